"""What a command says of a sandbox that this machine does not have."""

from pathlib import Path

import pytest

from activities.tools.sandbox.probe import levels
from tests.console.command import DONE, Surefoot

WHY = "there is no bwrap on the PATH: install the package bubblewrap"


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("tools", "call", "bash", '{"command": "id"}'), id="a call"),
        pytest.param(("run", "Go.", "--model", f"scripted:{DONE}"), id="a run"),
        pytest.param(("worker", "--address", "127.0.0.1:1"), id="a worker"),
    ],
)
def test_a_level_that_does_not_work_here_is_refused_in_a_sentence(
    usable: Surefoot, command: tuple[str, ...]
) -> None:
    sentence = usable.refuses(*command, environment={"SUREFOOT_SANDBOX": "bwrap", "PATH": "/nowhere"})
    assert sentence == f"SUREFOOT_SANDBOX is 'bwrap', which does not work here: {WHY}"


def test_what_is_no_level_is_refused_in_a_sentence(usable: Surefoot) -> None:
    sentence = usable.refuses("tools", "call", "bash", "{}", environment={"SUREFOOT_SANDBOX": "docker"})
    assert sentence.startswith("SUREFOOT_SANDBOX is 'docker': ")


def test_the_level_of_a_call_is_in_the_ledger(surefoot: Surefoot) -> None:
    (surefoot.directory / "act.yaml").write_text("steps: [{call: [{bash: {command: ls}}]}, {say: Done.}]\n")
    asked = ("run", "Go.", "--model", "scripted:act.yaml", "-o", "jsonl", "--approve", "bash=never")
    told = [
        surefoot(*asked, environment={"SUREFOOT_SANDBOX": level}).event("tool_execution_started")["sandbox"]
        for level in ("auto", "none")
    ]
    assert told == [levels()[0], "none"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param([], "TOOL_DENIED", id="unless a run says otherwise"),
        pytest.param(["--approve", "bash=never"], "made", id="and not where it does"),
    ],
)
def test_what_destroys_needs_approval_where_there_are_no_walls(
    surefoot: Surefoot, tmp_path: Path, options: list[str], said: str
) -> None:
    script = (
        "steps: [{call: [{bash: {command: 'echo made'}}]}, {choose: [{when: {tool_success: true}, "
        "say: '{{last.result.stdout}}'}, {say: '{{last.error_code}}'}]}]"
    )
    (tmp_path / "script.yaml").write_text(script)

    ended = surefoot(
        "run", "Go.", "--model", f"scripted:{tmp_path}/script.yaml", *options,
        environment={"SUREFOOT_SANDBOX": "none"},
    )  # fmt: skip

    assert (ended.exit_code, ended.stdout.strip()) == (0, said)
