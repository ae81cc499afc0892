"""Calls of real tools that are given secrets, and print them wherever a tool can."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from activities.interface import Capture, ToolCallInput
from activities.store.directory import DirectoryStore
from activities.tools.artifacts import Artifacts
from activities.tools.discovery import discover_tools
from activities.tools.executor import ToolExecutor
from activities.tools.sandbox.level import Level
from activities.tools.sandbox.probe import levels
from activities.tools.sandbox.sandbox import Sandbox
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import PYTHON, SHELL, WAIT_FOR_GO, write_tool
from tests.activities.tools.tool_run import until

VALUE = 'canary-7f3/é"x'
ECHOES = PYTHON + (
    "import json, os, sys\n"
    "text = sys.stdin.read() if sys.argv[1] == '-' else sys.argv[1]\n"
    "open('got', 'w').write(text + ' ' + os.environ.get('KEY', '') + ' ' + sys.argv[1])\n"
    "print(json.loads(text), os.environ.get('KEY'), file=sys.stderr)\n"
)
ANSWERS = ECHOES + "print(json.dumps({'got': json.loads(text), 'key': os.environ.get('KEY')}))\n"
MISSING = "is not there on this worker"


def executor(directory: Path, **variables: str) -> ToolExecutor:
    (directory / "work").mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], **variables}
    found = discover_tools([directory / "tools"])
    assert not found.errors
    artifacts = Artifacts(DirectoryStore(directory / "store"))
    return ToolExecutor(found.tools, directory / "work", environment, artifacts)


async def called(
    directory: Path,
    script: str,
    params: dict[str, JsonValue],
    **manifest: Any,  # noqa: ANN401  what a field may hold
) -> ToolSuccess | ToolFailure:
    write_tool(directory / "tools", "x", script, **manifest)
    call = ToolCallInput(tool="x", params=params, call_id="run-1/1-1", timeout_seconds=20)
    return await executor(directory, SUREFOOT_SECRET_KEY=VALUE).run(call)


async def test_a_tool_is_given_the_secret_and_its_answer_is_without(tmp_path: Path) -> None:
    outcome = await called(
        tmp_path,
        ANSWERS,
        {"header": "Bearer secret://KEY"},
        secrets=["KEY"],
        environment={"KEY": "<secret://KEY>"},
    )
    text, _, argument = (tmp_path / "work" / "got").read_text().rpartition(" ")
    assert (outcome, text, argument) == (
        ToolSuccess(tool="x", result={"got": {"header": "Bearer [secret KEY]"}, "key": "<[secret KEY]>"}),
        json.dumps({"header": f"Bearer {VALUE}"}, ensure_ascii=False) + f" <{VALUE}>",
        "-",
    )


async def test_params_without_a_secret_stay_in_the_command_line(tmp_path: Path) -> None:
    await called(tmp_path, ANSWERS, {"a": 1}, secrets=["KEY"])
    assert (tmp_path / "work" / "got").read_text().endswith(' {"a": 1}')


def refused(*problems: str) -> dict[str, Any]:
    return {
        "tool_success": False,
        "error": f"Tool 'x' was not called, its params are invalid: {'; '.join(problems)}",
        "error_code": "INVALID_PARAMS",
        "exit_code": None,
        "stdout": "",
        "stderr": "",
    }


@pytest.mark.parametrize(
    ("params", "secrets", "expected"),
    [
        pytest.param(
            {"a": ["secret://KEY", "secret://KEY"]},
            [],
            refused("the tool is not allowed the secret 'KEY'; the secrets that it is allowed: none"),
            id="not allowed",
        ),
        pytest.param(
            {"a": "secret://OTHER"},
            ["KEY"],
            refused("the tool is not allowed the secret 'OTHER'; the secrets that it is allowed: KEY"),
            id="neither allowed nor there",
        ),
        pytest.param(
            {"a": "secret://GONE"}, ["KEY", "GONE"], refused(f"the secret 'GONE' {MISSING}"), id="not there"
        ),
    ],
)
async def test_a_reference_that_leads_nowhere_is_told_and_the_call_not_made(
    tmp_path: Path, params: dict[str, JsonValue], secrets: list[str], expected: dict[str, Any]
) -> None:
    outcome = await called(tmp_path, ANSWERS, params, secrets=secrets)
    assert (outcome.model_dump(), (tmp_path / "work" / "got").exists()) == (expected, False)


async def test_a_tool_whose_own_secret_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    outcome = await called(tmp_path, ANSWERS, {}, environment={"KEY": "secret://GONE"})
    expected = (f"Tool 'x' could not be started: the secret 'GONE' {MISSING}", "TOOL_CRASHED", 126)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error, outcome.error_code, outcome.exit_code) == expected


async def test_where_there_are_no_secrets_a_reference_is_a_text(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", ANSWERS)
    call = ToolCallInput(tool="x", params={"a": "secret://KEY"}, call_id="r/1-1", timeout_seconds=20)
    outcome = await executor(tmp_path).run(call)
    assert outcome == ToolSuccess(tool="x", result={"got": {"a": "secret://KEY"}, "key": None})


async def test_a_failure_and_what_was_captured_are_without(tmp_path: Path) -> None:
    outcome = await called(
        tmp_path, ECHOES + "print(text)\nsys.exit(3)", {"a": "secret://KEY"}, secrets=["KEY"]
    )
    assert outcome == ToolFailure(
        error="Tool 'x' crashed with exit code 3",
        error_code="TOOL_CRASHED",
        exit_code=3,
        stdout='{"a": "[secret KEY]"}\n',
        stderr="{'a': '[secret KEY]'} None\n",
    )


async def test_what_a_running_tool_has_printed_is_without(tmp_path: Path) -> None:
    script = SHELL + f"printf 'it is %s' \"$KEY\" >&2; printf '%.8s' \"$KEY\"; {WAIT_FOR_GO}; echo 1"
    write_tool(tmp_path / "tools", "x", script, environment={"KEY": "secret://KEY"})
    seen: list[Capture] = []

    def watch(capture: Any) -> None:  # noqa: ANN401  a callable that gives a Capture
        async def look() -> None:
            await until(lambda: bool(capture().stderr and capture().stdout))
            seen.append(capture())
            (tmp_path / "work" / "go").touch()

        looking.append(asyncio.create_task(look()))

    looking: list[asyncio.Task[None]] = []
    call = ToolCallInput(tool="x", params={}, call_id="r/1-1", timeout_seconds=20)
    await executor(tmp_path, SUREFOOT_SECRET_KEY=VALUE).run(call, watch=watch)
    assert seen == [Capture(stdout="[secret KEY]", stderr="it is [secret KEY]")]


async def test_a_file_that_is_kept_is_without(tmp_path: Path) -> None:
    script = SHELL + 'printf "key=$KEY" > "$SUREFOOT_ARTIFACTS/log.txt"; echo \'{"log_artifact": "log.txt"}\''
    outcome = await called(tmp_path, script, {}, environment={"KEY": "secret://KEY"})
    kept = [path.read_text() for path in (tmp_path / "store").rglob("*log.txt")]
    assert (isinstance(outcome, ToolSuccess), kept) == (True, ["key=[secret KEY]"])


async def test_a_secret_that_a_tool_finds_by_itself_is_hidden_too(tmp_path: Path) -> None:
    (tmp_path / "found").write_text(VALUE)
    outcome = await called(tmp_path, SHELL + f'printf \'"%s"\' "$(tr -d \'\\"\' < {tmp_path}/found)"', {})
    assert outcome == ToolSuccess(tool="x", result=VALUE.replace('"', ""))


FUNCTIONS = """
from surefoot import tool

@tool(secrets=["KEY"]{options})
def x(key: str) -> dict:
    '''Echo it.'''
    print("printed", key)
    open("got", "w").write(key)
    if key.startswith("raise"):
        raise ValueError("bad key " + key)
    return {{"key": key}}
"""


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("", id="in process"),
        pytest.param(", isolated=True", marks=pytest.mark.slow, id="isolated"),
    ],
)
@pytest.mark.parametrize(
    ("key", "result"),
    [
        pytest.param("secret://KEY", {"success": True, "error": None, "key": "[secret KEY]"}, id="answers"),
        pytest.param(
            "raise secret://KEY",
            {"success": False, "error": "ValueError: bad key raise [secret KEY]"},
            id="raises",
        ),
    ],
)
async def test_a_function_is_given_the_secret_and_its_answer_is_without(
    tmp_path: Path, options: str, key: str, result: dict[str, JsonValue], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "functions.py").write_text(FUNCTIONS.format(options=options))
    call = ToolCallInput(tool="x", params={"key": key}, call_id="r/1-1", timeout_seconds=30)
    here = Path.cwd()
    running = executor(tmp_path, SUREFOOT_SECRET_KEY=VALUE)
    os.chdir(running.directory)
    try:
        outcome = await running.run(call)
    finally:
        os.chdir(here)
    got = (tmp_path / "work" / "got").read_text()
    assert isinstance(outcome, ToolSuccess)
    assert isinstance(outcome.result, dict)
    shown = {name: value for name, value in outcome.result.items() if name in result}
    assert (shown, got) == (result, key.replace("secret://KEY", VALUE))
    said = capsys.readouterr().err
    assert (VALUE in said, "printed" in said) == (False, options == "")


@pytest.mark.parametrize("level", [level for level in levels() if level != "none"])
async def test_no_walled_executable_sees_where_the_secrets_are(tmp_path: Path, level: Level) -> None:
    secrets = tmp_path / "work" / "secrets"
    secrets.mkdir(parents=True)
    (secrets / "KEY").write_text(VALUE)
    script = SHELL + "if read line < secrets/KEY; then echo 1; else echo 0; fi"
    write_tool(tmp_path / "tools", "x", script)
    call = ToolCallInput(tool="x", params={}, call_id="run-1/1-1", timeout_seconds=20)
    walled = replace(executor(tmp_path, SUREFOOT_SECRETS=str(secrets)), sandbox=Sandbox(level))
    assert await walled.run(call) == ToolSuccess(tool="x", result=0)
