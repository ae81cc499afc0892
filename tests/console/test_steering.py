"""Steering runs from the command line: what is said, what is refused, and what the run's record tells."""

import json
import signal

import pytest

from tests.activities.openai_server import ModelServer, Raw, Reply
from tests.console.command import Surefoot
from tests.console.lasting_tools import Gated, Lingering
from workers.server_ports import free_port

TALK = "steps: [{call: [{gated: {}}]}, {call: [{gated: {}}]}, {say: Done.}]\n"


def listed(surefoot: Surefoot, workflow_id: str, status: str) -> bool:
    """Whether a table has the run and its status, sooner or later: the server's list lags behind."""
    for _ in range(40):
        _, *rows = surefoot("list", "--status", status).stdout.splitlines()
        if [workflow_id, status] in [row.split()[:2] for row in rows]:
            return True
    return False


def test_a_run_is_listed_paused_given_more_and_resumed(surefoot: Surefoot) -> None:
    gated = Gated(surefoot.directory / "tools")
    (surefoot.directory / "talk.yaml").write_text(TALK)
    asked = ("--model", "scripted:talk.yaml", "--tools", "tools", "--workflow-id", "steered")
    running = surefoot.start("run", "Steer me.", *asked, "--max-turns", 1, "-o", "jsonl")
    running.until(gated.has_begun)

    paused = surefoot("pause", "steered", "--reason", "look at it", "--from", "Ada")
    raised = surefoot("raise-limit", "steered", "--max-turns", 9, "--from", "Bea")
    lower = surefoot("raise-limit", "steered", "--max-turns", 2)
    in_table = listed(surefoot, "steered", "paused")
    as_json = json.loads(surefoot("list", "--status", "paused", "-o", "json").stdout)
    shown = surefoot("show", "steered")
    told = json.loads(surefoot("show", "steered", "-o", "json").stdout)
    gated.open()
    running.until_it_says("the run is paused; `surefoot resume steered` lets it go on")
    resumed = surefoot("resume", "steered")
    ran = running.ends()

    assert (paused.exit_code, paused.stderr) == (0, "paused; `surefoot resume steered` lets it go on\n")
    assert (raised.exit_code, raised.stderr) == (0, "raised; `surefoot watch steered` follows the run\n")
    assert (lower.exit_code, lower.stderr) == (
        2,
        "surefoot: the run 'steered' keeps its limits: max_turns is 9 already, and limits only go up\n",
    )
    assert in_table
    assert ("steered", "paused", "Steer me.") in [
        (run["workflow_id"], run["status"], run["prompt"]) for run in as_json
    ]
    assert "paused by Ada: look at it\nlimit raised by Bea: max_turns 1 -> 9" in shown.stdout
    assert (told["status"], [event["type"] for event in told["steering"]]) == (
        "paused",
        ["run_paused", "limit_raised"],
    )
    assert resumed.exit_code == 0
    assert ran.event("run_finished")["status"] == "completed"
    late = surefoot("resume", "steered")
    assert (late.exit_code, late.stderr) == (
        2,
        "surefoot: the run 'steered' has ended, and cannot be resumed\n",
    )


@pytest.mark.long
def test_a_run_whose_key_is_refused_waits_says_so_and_is_resumed(surefoot: Surefoot) -> None:
    refusal = Raw(body=b'{"error": {"message": "the key has expired"}}', status=401)
    with ModelServer(refusal, Reply(text="I am back.")) as server:
        environment = {"OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "sk-test-0123456789abcdef"}
        asked = ("--model", "openai-chat:test-model", "--workflow-id", "parked", "--on-model-failure", "wait")
        running = surefoot.start("run", "Go on.", *asked, environment=environment)
        running.until_it_says("the run waits; `surefoot resume parked` has it ask its model again")
        waiting = listed(surefoot, "parked", "waiting")
        resumed = surefoot("resume", "parked")
        ran = running.ends()

    assert waiting
    assert (resumed.exit_code, ran.exit_code, ran.stdout) == (0, 0, "I am back.\n")
    assert "the run waits for its model: openai refused the key (401): the key has expired" in ran.stderr


def test_a_call_and_then_its_run_are_cancelled(surefoot: Surefoot) -> None:
    lingering = Lingering(surefoot.directory / "tools")
    (surefoot.directory / "talk.yaml").write_text(
        "steps: [{call: [{linger: {}}]}, {call: [{linger: {}}]}, {say: Done.}]\n"
    )
    asked = ("--model", "scripted:talk.yaml", "--tools", "tools", "--workflow-id", "stopped")
    running = surefoot.start("run", "Stop me.", *asked, "-o", "jsonl")
    running.until(lingering.has_begun)

    wrong = surefoot("cancel-call", "stopped", "7-1")
    call = surefoot("cancel-call", "stopped", "1-1")
    running.until_printed("tool_execution_failed")
    cancelled = surefoot("cancel", "stopped", "--reason", "it costs too much")
    ran = running.ends()
    stopped = listed(surefoot, "stopped", "cancelled")

    assert (wrong.exit_code, wrong.stderr) == (
        2,
        (
            "surefoot: the run 'stopped' does not cancel the call: there is no tool call '7-1'; running or "
            "waiting: 1-1\n"
        ),
    )
    assert (call.exit_code, call.stderr) == (
        0,
        "the call is stopped; `surefoot watch stopped` follows the run\n",
    )
    assert (cancelled.exit_code, cancelled.stderr) == (
        0,
        "cancelled; `surefoot show stopped` tells what happened in it\n",
    )
    finished = ran.event("run_finished")
    assert (ran.exit_code, finished["status"], finished["error"]) == (5, "cancelled", "it costs too much")
    assert stopped
    assert surefoot("cancel", "stopped").stderr == (
        "surefoot: the run 'stopped' has ended, and cannot be cancelled\n"
    )


@pytest.mark.parametrize(
    ("arguments", "exit_code", "sentence"),
    [
        pytest.param(("pause", "nobody"), 2, "there is no run 'nobody'", id="no such run"),
        pytest.param(
            ("raise-limit", "a-run"),
            2,
            "no limit is named: pass --max-turns N, or another limit of `surefoot run`",
            id="no limit",
        ),
        pytest.param(
            ("raise-limit", "a-run", "--lift", "turns"),
            2,
            "--lift 'turns' names no limit that can be lifted: tool-calls, input-tokens, output-tokens, "
            "cost, time",
            id="a limit that every run has",
        ),
        pytest.param(
            ("list", "--address", "127.0.0.1:1"),
            4,
            "cannot reach Temporal at 127.0.0.1:1",
            id="no server",
        ),
        pytest.param(
            ("list", "--agent", "it's"),
            2,
            "no agent is found by a name with quotes or backslashes",
            id="a name that no query can hold",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    surefoot: Surefoot, arguments: tuple[str, ...], exit_code: int, sentence: str
) -> None:
    ended = surefoot(*arguments)

    assert (ended.exit_code, ended.stdout) == (exit_code, "")
    assert ended.stderr.startswith(f"surefoot: {sentence}")


@pytest.mark.long
def test_a_run_that_was_left_is_steered_once_dev_serves_it(surefoot_alone: Surefoot) -> None:
    surefoot = surefoot_alone
    (surefoot.directory / "talk.yaml").write_text(
        "steps: [{call: [{bash: {command: sleep 60}}], repeat: 9}, {say: Done.}]"
    )
    asked = ("--model", "scripted:talk.yaml", "--workflow-id", "left")
    running = surefoot.start("run", "Leave me.", *asked, "-o", "jsonl")
    running.until_printed("tool_execution_scheduled")
    running.signal(signal.SIGINT)
    running.ends()

    unanswered = surefoot("pause", "left", "--from", "Ada")
    dev = surefoot.start("dev", "--port", free_port(), "--ui-port", free_port())
    dev.until_it_says("serving an unfinished run")
    paused = surefoot("pause", "left", "--from", "Ada")
    cancelled = surefoot("cancel", "left")

    assert (unanswered.exit_code, unanswered.stderr) == (
        1,
        (
            "surefoot: no worker answered for the run 'left' within 10s; the request may still be taken once "
            "somebody serves it: look before you send it again. `surefoot dev` serves it\n"
        ),
    )
    assert (paused.exit_code, cancelled.exit_code) == (0, 0)
