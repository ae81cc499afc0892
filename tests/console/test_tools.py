import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from console.errors import CommandError
from console.exit_codes import ExitCode
from console.tools import tools_app
from tests.console.tools_on_disk import write_tool
from tests.workers.real_workers import pid_told_in

SUREFOOT = Path(sys.executable).with_name("surefoot")


@dataclass(frozen=True)
class Said:
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def surefoot(capfd: pytest.CaptureFixture[str]) -> "Command":
    return Command(capfd)


class Command:
    """`surefoot tools …` inside this process, up to its exit code."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self._captured = captured

    def __call__(self, *arguments: str | Path) -> Said:
        try:
            exit_code = tools_app([str(one) for one in arguments], standalone_mode=False)
        except CommandError as error:
            exit_code = error.exit_code
            sys.stderr.write(error.message)
        said = self._captured.readouterr()
        return Said(int(exit_code), said.out, said.err)


def test_tools_are_listed_with_where_they_are_from(surefoot: Command, tmp_path: Path) -> None:
    write_tool(tmp_path, "wide", description="Does it.\nAt length.", timeoutSeconds=1.5)
    write_tool(tmp_path, "gpu", executorQueue="gpus").unlink()

    said = surefoot("list", "--tools", tmp_path, "--tools", "builtin")

    column = len(str(tmp_path))
    assert said.stdout.splitlines() == [
        f"NAME  TIMEOUT  {'SOURCE':{column}}  DESCRIPTION",
        f"bash  30s      {'builtin':{column}}  Execute bash commands with output capture and error handling.",
        f"gpu   30s      {'queue gpus':{column}}  Does gpu.",
        f"wide  1.5s     {tmp_path}  Does it.",
    ]


def test_tools_are_listed_for_programs(surefoot: Command, tmp_path: Path) -> None:
    executable = write_tool(tmp_path, "one")

    said = surefoot("list", "--tools", tmp_path, "-o", "json")

    assert json.loads(said.stdout) == [
        {
            "name": "one",
            "description": "Does one.",
            "timeout_seconds": 30,
            "source": str(tmp_path),
            "executable": str(executable),
            "executor_queue": None,
            "approval": "never",
        }
    ]


def test_a_tool_is_shown_as_the_model_sees_it(surefoot: Command) -> None:
    said = surefoot("show", "bash")

    assert (said.exit_code, said.stdout[:65]) == (
        0,
        "You have access to the following tools:\n\n### bash\nExecute bash co",
    )


def test_a_manifest_is_shown_with_its_defaults(surefoot: Command, tmp_path: Path) -> None:
    write_tool(tmp_path, "one")

    said = surefoot("show", "one", "--tools", tmp_path, "-o", "json")

    assert json.loads(said.stdout) == {
        "name": "one",
        "description": "Does one.",
        "usage": None,
        "inputSchema": {"type": "object"},
        "outputSchema": None,
        "annotations": {
            "title": None,
            "readOnlyHint": None,
            "destructiveHint": None,
            "idempotentHint": None,
            "openWorldHint": None,
        },
        "timeoutSeconds": 30.0,
        "timeoutParam": None,
        "limits": {"stdout": 10240, "stderr": 4096, "result": 102400},
        "exclusive": False,
        "executorQueue": None,
        "pickupTimeoutSeconds": 60.0,
        "heartbeatSeconds": 15.0,
        "approval": "never",
    }


def test_what_is_well_is_checked_with_a_line_each(surefoot: Command, tmp_path: Path) -> None:
    write_tool(tmp_path, "one")
    write_tool(tmp_path, "two")

    said = surefoot("check", tmp_path)

    assert said == Said(0, f"ok: one ({tmp_path}/one.tool.json)\nok: two ({tmp_path}/two.tool.json)\n", "")


def test_every_problem_is_named_also_what_only_warns_elsewhere(surefoot: Command, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    write_tool(tmp_path, "good")
    write_tool(tmp_path, "unmarked").chmod(0o644)
    write_tool(tmp_path, "gone").unlink()
    write_tool(tmp_path, "odd", inputSchema={"type": "array"})

    said = surefoot("check", tmp_path, "--tools", empty)

    assert (said.exit_code, said.stdout) == (1, f"ok: good ({tmp_path}/good.tool.json)\n")
    assert [line.replace(str(tmp_path), "") for line in said.stderr.splitlines()] == [
        "problem: /gone.tool.json: its executable is missing: there is no file /gone",
        "problem: /odd.tool.json: inputSchema: the params of a tool are an object: 'type' must be 'object'",
        "problem: /unmarked: cannot be started: /unmarked is not executable (chmod +x)",
        "problem: /empty: no tool is here: no file ends with .tool.json, no Python file imports surefoot",
    ]


FUNCTIONS = """
from surefoot import tool

@tool(read_only=True)
def add(first: int, second: int = 2) -> int:
    "Add two numbers."
    return first + second

@tool
def undocumented(first, *more: int): ...
"""


def test_functions_are_checked_listed_and_called_like_other_tools(
    surefoot: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "functions_of_a_test.py").write_text(FUNCTIONS)
    write_tool(tmp_path, "gone").unlink()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = "functions_of_a_test:add"

    checked = surefoot("check", tmp_path)
    listed = surefoot("list", "--tools", source)
    called = surefoot("call", "add", '{"first": 1}', "--tools", source)

    assert checked.stdout == f"ok: add ({tmp_path}/functions_of_a_test.py:4)\n"
    reasons = (
        ": has no docstring, whose first paragraph tells the model what the tool does",
        ".first: has no type: annotate it",
        ".more: *more cannot be a tool's parameter: name each one in the signature",
    )
    assert checked.stderr.replace(f"{tmp_path}/", "").splitlines() == [
        "problem: gone.tool.json: its executable is missing: there is no file gone",
        *(f"problem: functions_of_a_test.py:9: undocumented{reason}" for reason in reasons),
    ]
    assert listed.stdout.splitlines()[1] == f"add   30s      {tmp_path}:{source}  Add two numbers."
    assert called.stdout == (
        '{"tool": "add", "tool_success": true, "result": {"success": true, "error": null, "result": 3}}\n'
    )


def test_a_call_prints_the_outcome_that_a_model_would_read(surefoot: Command, tmp_path: Path) -> None:
    write_tool(tmp_path, "echo")

    said = surefoot("call", "echo", '{"a": "é"}', "--tools", tmp_path)

    assert said == Said(0, '{"tool": "echo", "tool_success": true, "result": {"got": {"a": "é"}}}\n', "")


@pytest.mark.parametrize(
    ("script", "params", "outcome"),
    [
        pytest.param(
            "echo oops >&2; exit 3",
            "{}",
            {
                "tool_success": False,
                "error": "Tool 't' crashed with exit code 3",
                "error_code": "TOOL_CRASHED",
                "exit_code": 3,
                "stdout": "",
                "stderr": "oops\n",
            },
            id="a tool that fails",
        ),
        pytest.param(
            "echo never",
            '{"n": "three"}',
            {
                "tool_success": False,
                "error": "Tool 't' was not called, its params are invalid: n: \"three\" is not of type "
                '"integer"',
                "error_code": "INVALID_PARAMS",
                "exit_code": None,
                "stdout": "",
                "stderr": "",
            },
            id="params that do not fit",
        ),
        pytest.param(
            "echo never",
            "[]",
            {
                "tool_success": False,
                "error": "Tool 't' was not called, its params are invalid: expected a JSON object, and got "
                "array",
                "error_code": "INVALID_PARAMS",
                "exit_code": None,
                "stdout": "",
                "stderr": "",
            },
            id="params that are no object",
        ),
    ],
)
def test_a_failed_call_prints_the_failure_and_exits_with_1(
    surefoot: Command, tmp_path: Path, script: str, params: str, outcome: dict[str, object]
) -> None:
    write_tool(tmp_path, "t", script, inputSchema={"properties": {"n": {"type": "integer"}}})

    said = surefoot("call", "t", params, "--tools", tmp_path)

    assert (said.exit_code, json.loads(said.stdout), said.stderr) == (1, outcome, "")


def test_a_call_runs_where_it_is_told(surefoot: Command, tmp_path: Path) -> None:
    write_tool(tmp_path, "where", 'printf \'"%s"\' "$PWD"')
    (tmp_path / "work").mkdir()

    said = surefoot("call", "where", "{}", "--tools", tmp_path, "--workdir", tmp_path / "work")

    assert json.loads(said.stdout)["result"] == str(tmp_path / "work")


def test_what_is_truncated_for_the_model_is_kept_as_in_a_run(
    surefoot: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_STORE", str(tmp_path / "store"))

    said = surefoot("call", "bash", '{"command": "seq 9999"}', "--tools", "builtin")

    (kept,) = (tmp_path / "store").rglob("*.txt")
    assert json.loads(said.stdout)["result"]["stdout_artifact"] == str(kept)
    assert kept.read_text().endswith("9998\n9999\n")


def test_a_call_sees_no_secret_of_the_caller_and_its_own_id(
    surefoot: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret")
    write_tool(tmp_path, "env", 'printf \'"%s %s"\' "$MY_API_KEY" "${SUREFOOT_CALL_ID##*/}"')

    said = surefoot("call", "env", "{}", "--tools", tmp_path)

    assert json.loads(said.stdout)["result"] == " 1-1"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            ["call", "ehco", "{}"], "there is no tool 'ehco'; did you mean 'echo'?", id="a misspelt tool"
        ),
        pytest.param(
            ["show", "frobnicate"],
            "there is no tool 'frobnicate'; the tools are: echo, gpu",
            id="no such tool",
        ),
        pytest.param(
            ["call", "echo", "{'a': 1}"],
            "the params are not JSON: Expecting property name enclosed in double quotes at character 1",
            id="params that are not JSON",
        ),
        pytest.param(
            ["call", "gpu", "{}"],
            "'gpu' has no executable here: it runs on the task queue 'gpus'",
            id="a tool of another machine",
        ),
        pytest.param(
            ["call", "echo", "{}", "--workdir", "/nowhere"],
            "the working directory /nowhere does not exist",
            id="no such working directory",
        ),
        pytest.param(
            ["list", "--tools", "/nowhere"],
            "there is no such tools directory: /nowhere",
            id="no such tools directory",
        ),
        pytest.param(
            ["check", "/nowhere"], "there is no such tools directory: /nowhere", id="nothing to check"
        ),
    ],
)
def test_bad_input_is_one_sentence(
    surefoot: Command, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    write_tool(tmp_path, "echo")
    write_tool(tmp_path, "gpu", executorQueue="gpus").unlink()

    said = surefoot(*arguments, "--tools", tmp_path)

    assert said == Said(ExitCode.USAGE, "", sentence)


def test_params_are_read_from_stdin(tmp_path: Path) -> None:
    write_tool(tmp_path, "echo")

    said = subprocess.run(
        [SUREFOOT, "tools", "call", "echo", "-", "--tools", tmp_path],
        input=b'{"a": 1}',
        capture_output=True,
        check=False,
    )

    assert (said.returncode, json.loads(said.stdout)["result"]) == (0, {"got": {"a": 1}})


def test_no_bad_input_ends_in_a_traceback(tmp_path: Path) -> None:
    said = subprocess.run(
        [SUREFOOT, "tools", "list", "--tools", tmp_path / "a", "--tools", tmp_path / "b"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (said.returncode, said.stdout, said.stderr.splitlines()) == (
        2,
        "",
        [
            f"surefoot: there is no such tools directory: {tmp_path}/a",
            f"surefoot: there is no such tools directory: {tmp_path}/b",
        ],
    )


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, id="a polite kill", marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, id="a closed terminal", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_call_kills_the_tool(tmp_path: Path, number: signal.Signals) -> None:
    work = tmp_path / "work"
    work.mkdir()
    write_tool(
        tmp_path, "stubborn", "trap '' TERM INT HUP\necho $$ > alive.new; mv alive.new alive\nsleep 60"
    )
    call = [SUREFOOT, "tools", "call", "stubborn", "{}", "--tools", tmp_path]
    command = subprocess.Popen(call, stdout=subprocess.PIPE, cwd=work)
    _wait_for(work / "alive")
    alive = pid_told_in(work / "alive")

    command.send_signal(number)
    stdout, _ = command.communicate(timeout=20)

    assert (command.returncode, stdout) == (130, b"")
    assert not _is_running(alive)


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} never appeared"
        time.sleep(0.01)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_crash_is_a_crash_under_a_parent_that_ignores_the_end_of_its_children(tmp_path: Path) -> None:
    tool = write_tool(tmp_path, "fails")
    tool.write_text("#!/bin/sh\nexit 3\n")
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )

    shown = subprocess.run(
        [sys.executable, "-c", ignoring, SUREFOOT, "tools", "call", "fails", "{}", "--tools", tmp_path],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert (shown.returncode, json.loads(shown.stdout)["exit_code"]) == (1, 3)
