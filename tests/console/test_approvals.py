"""Calls that need approval, decided about from the command line and at the terminal of the run."""

import json
from contextlib import closing

import pytest

from tests.console.command import Surefoot
from tests.console.test_run_at_a_terminal import Terminal
from tests.console.tools_on_disk import write_tool

_ECHO = 'printf \'{"got": "%s"}\' "$(echo "$1" | tr -d \'{}" \')"'


def calls_an_agent(surefoot: Surefoot) -> tuple[str, ...]:
    """Give a run whose model calls an agent, which calls a tool that asks."""
    asks_for(surefoot, {"a": 1})
    (surefoot.directory / "putter.md").write_text(
        "---\ndescription: Puts.\nmodel: scripted:put.yaml\ntools: [tools]\n---\nPut it.\n"
    )
    steps = [{"call": [{"putter": {"prompt": "Put it."}}]}, {"say": "It is put."}]
    (surefoot.directory / "ask.yaml").write_text(json.dumps({"steps": steps}))
    return ("--model", "scripted:ask.yaml", "--tools", "putter.md", "--approve", "put=always")


def asks_for(surefoot: Surefoot, *params: dict[str, object]) -> tuple[str, ...]:
    """Give a run whose model calls a tool with each of these, one turn after the other."""
    tools = surefoot.directory / "tools"
    tools.mkdir(exist_ok=True)
    write_tool(tools, "put", _ECHO)
    steps = [{"call": [{"put": each}]} for each in params]
    (surefoot.directory / "put.yaml").write_text(json.dumps({"steps": [*steps, {"say": "Done."}]}))
    return ("--model", "scripted:put.yaml", "--tools", "tools", "--approve", "put=always")


@pytest.mark.long
def test_calls_are_approved_edited_and_denied_from_elsewhere(surefoot: Surefoot) -> None:
    asked = asks_for(surefoot, {"a": 1}, {"a": 2}, {"a": 3}, {"a": 4})
    running = surefoot.start(
        "run", "Go on.", *asked, "--workflow-id", "asks", "--on-approval", "wait", "-o", "jsonl"
    )
    question = running.until_printed("approval_requested")
    running.until_it_says("decide with `surefoot approve asks 1-1`")

    unasked = surefoot("approve", "asks", "1-1")
    forged = surefoot("approve", "asks", "1-1", "--hash", "0" * 64)
    wrong = surefoot("deny", "asks", "9-9", "--reason", "no")
    approved = surefoot("approve", "asks", "1-1", "--hash", question["params_sha256"], "--from", "Ada")
    running.until(lambda: '"2-1"' in running.stdout or None)
    twice = surefoot("approve", "asks", "1-1", "--yes")
    edited = surefoot("approve", "asks", "2-1", "--yes", "--params", '{"a": "two"}')
    running.until(lambda: '"3-1"' in running.stdout or None)
    denied = surefoot("deny", "asks", "3-1", "--reason", "Not three.")
    running.until(lambda: '"4-1"' in running.stdout or None)
    always = surefoot("approve", "asks", "4-1", "--yes", "--always")
    ran = running.ends()
    late = surefoot("approve", "asks", "4-1", "--yes")
    shown = surefoot("show", "asks")

    assert [one.exit_code for one in (approved, edited, denied, always, ran)] == [0] * 5, ran.stderr
    assert [one.exit_code for one in (unasked, forged, wrong, twice, late)] == [2] * 5
    assert approved.stderr.splitlines() == [
        "put (1-1) waits for approval: every call of the tool does",
        '  "a": 1',
        "approved; `surefoot watch asks` follows the run",
    ]
    assert unasked.stderr.splitlines()[-1] == (
        "surefoot: nobody can be asked here whether that call is meant: pass --yes, or its --hash"
    )
    not_taken = "surefoot: the run 'asks' does not take the approval: "
    assert forged.stderr.splitlines()[-1] == (
        f"{not_taken}the hash is not that of the params of tool call '1-1': look at them again"
    )
    assert wrong.stderr == (
        "surefoot: the run 'asks' does not take the denial: "
        "no tool call '9-9' waits for approval; these do: 1-1\n"
    )
    assert twice.stderr == (f"{not_taken}tool call '1-1' has already been decided: it was approved by Ada\n")
    assert late.stderr == "surefoot: the run 'asks' has ended, and nothing of it waits for approval\n"
    results = [e["outcome"] for e in ran.events if e["type"].startswith("tool_execution_") and "outcome" in e]
    assert [one.get("result", one.get("error")) for one in results] == [
        {"got": "a:1"},
        {"got": "a:two"},
        "Tool 'put' was not called, it was not approved: Not three.",
        {"got": "a:4"},
    ]
    for line in (
        "  put (1-1) waits for approval: every call of the tool does",
        "  put (1-1) approved by Ada",
        '  put (2-1) approved, with other arguments: {"a": "two"}',
        "  put (3-1) denied: Not three.",
        "  put (4-1) approved, and every call of the tool in this run",
    ):
        assert line in shown.stdout.splitlines(), shown.stdout


def test_a_run_that_nobody_can_be_asked_about_denies(surefoot: Surefoot) -> None:
    ran = surefoot("run", "Go on.", *asks_for(surefoot, {"a": 1}), "-o", "jsonl")

    assert (ran.exit_code, ran.event("approval_denied")["reason"]) == (0, "nobody can be asked in this run")
    assert ran.event("tool_execution_failed")["error"]["code"] == "TOOL_DENIED"


def test_rules_for_a_tool_that_is_not_there_are_refused(usable: Surefoot) -> None:
    sentence = usable.refuses("run", "Go on.", *asks_for(usable), "--approve", "putt=always")

    assert "--approve names no tool of this run: 'putt'; did you mean 'put'?" in sentence


@pytest.mark.long
def test_whoever_is_at_the_terminal_is_asked(surefoot: Surefoot) -> None:
    asked = asks_for(surefoot, {"a": "\u001b[2J"}, {"a": 2}, {"a": 3}, {"a": 4})
    with closing(Terminal(surefoot, "run", "Go on.", *asked)) as terminal:
        terminal.until_it_shows("Approve put (1-1)?")
        terminal.press("n Not one.\ny\ny\n")
        terminal.until_it_shows("Approve put (2-1)?")
        terminal.press("perhaps\ny\n")
        terminal.until_it_shows("Approve put (3-1)?")
        terminal.press("edit\n")
        terminal.until_it_shows("Arguments, as one JSON object:")
        terminal.press('{"a": "three"}\n')
        terminal.until_it_shows("Approve put (4-1)?")
        terminal.press("always\n")
        exit_code = terminal.ends()

    assert exit_code == 0, terminal.shown
    assert '"a": "\\u001b[2J"' in terminal.shown
    for text in ("put (1-1) denied: Not one.", "a:2", "a:three", "a:4", "Done."):
        assert text in terminal.shown, terminal.shown


@pytest.mark.long
def test_whoever_is_at_the_terminal_is_asked_about_the_calls_of_agents(surefoot: Surefoot) -> None:
    asked = calls_an_agent(surefoot)
    with closing(Terminal(surefoot, "run", "Go on.", *asked, "--workflow-id", "parent")) as terminal:
        terminal.until_it_shows("Approve put (1-1)?")
        terminal.press("y\n")
        exit_code = terminal.ends()

    assert exit_code == 0, terminal.shown
    # What became of it is told, too, but for a run that ends within the tenths of a second until it is asked.
    for text in ("in run parent/1-1: put (1-1) waits", "It is put."):
        assert text in terminal.shown, terminal.shown
