import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from activities.interface import Capture, ToolCallInput
from activities.tools.executor import ToolExecutor
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.sizes import MAX_ANSWER_BYTES
from tests.activities.tools.disk_tools import PYTHON, SHELL, WAIT_FOR_GO, found, write_tool
from tests.activities.tools.tool_run import is_alive, until

SECRET = {"OPENAI_API_KEY": "hunter2", "PYTHONPATH": "/elsewhere", "LC_TIME": "C"}


def executor(directory: Path) -> ToolExecutor:
    (directory / "work").mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], **SECRET}
    return ToolExecutor(found(directory / "tools"), directory / "work", environment)


def call(params: dict[str, JsonValue] | None = None, *, seconds: float = 20) -> ToolCallInput:
    return ToolCallInput(tool="x", params=params or {}, call_id="run-1/2-1", timeout_seconds=seconds)


async def outcome_of(
    directory: Path, script: str, asked: ToolCallInput, *, mode: int = 0o755, **manifest: object
) -> ToolSuccess | ToolFailure:
    write_tool(directory / "tools", "x", script, mode=mode, **manifest)
    async with asyncio.timeout(30):
        return await executor(directory).run(asked)


def failure(code: str, error: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401  what a field may hold
    keys = {"exit_code": None, "stdout": "", "stderr": ""}
    return {"tool_success": False, "error": error, "error_code": code, **keys, **more}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            SHELL + "echo '{\"n\": 1}'",
            {"tool": "x", "tool_success": True, "result": {"n": 1}},
            id="answers",
        ),
        pytest.param(
            SHELL + 'echo \'{"success": false, "error": "no key"}\'; echo oh >&2',
            {"tool": "x", "tool_success": True, "result": {"success": False, "error": "no key"}},
            id="answers that its operation failed",
        ),
        pytest.param(
            SHELL + "echo '{\"n\": 1}'; echo oh >&2; exit 3",
            failure(
                "TOOL_CRASHED",
                "Tool 'x' crashed with exit code 3",
                exit_code=3,
                stdout='{"n": 1}\n',
                stderr="oh\n",
            ),
            id="answers, and then fails",
        ),
        pytest.param(
            PYTHON + "import ctypes, os\nos.write(1, b'on it')\nctypes.string_at(0)",
            failure("TOOL_CRASHED", "Tool 'x' crashed with exit code 139", exit_code=139, stdout="on it"),
            id="segmentation fault",
        ),
        pytest.param(
            SHELL + "echo 'not valid json{{{'",
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned invalid JSON",
                exit_code=0,
                stdout="not valid json{{{\n",
            ),
            id="prints something else than JSON",
        ),
        pytest.param(
            SHELL + "echo oh >&2",
            failure("INVALID_OUTPUT", "Tool 'x' returned invalid JSON", exit_code=0, stderr="oh\n"),
            id="says nothing",
        ),
        pytest.param(
            SHELL + "printf '\"\\377\"'",
            failure("INVALID_OUTPUT", "Tool 'x' returned invalid JSON", exit_code=0, stdout='"\ufffd"'),
            id="prints bytes that are not UTF-8",
        ),
        pytest.param(
            "#!/no/such/thing\n",
            failure(
                "TOOL_CRASHED",
                "Tool 'x' could not be started: its interpreter '/no/such/thing' was not found",
                exit_code=127,
            ),
            id="its interpreter is missing",
        ),
    ],
)
async def test_every_ending_of_an_executable_has_its_outcome(
    tmp_path: Path, script: str, expected: dict[str, Any]
) -> None:
    outcome = await outcome_of(tmp_path, script, call())

    assert outcome.model_dump() == expected


async def test_a_tool_past_its_timeout_is_told_with_what_it_had_said(tmp_path: Path) -> None:
    script = SHELL + "printf 'Processing item 1...'; echo slow >&2; exec sleep 300"

    outcome = await outcome_of(tmp_path, script, call(seconds=0.5))

    assert outcome.model_dump() == failure(
        "TOOL_TIMEOUT", "Tool 'x' timed out after 0.5s", stdout="Processing item 1...", stderr="slow\n"
    )


async def test_a_tool_that_lost_its_x_bit_could_not_be_started(tmp_path: Path) -> None:
    outcome = await outcome_of(tmp_path, SHELL + "echo 1", call(), mode=0o644)

    assert outcome.model_dump() == failure(
        "TOOL_CRASHED",
        f"Tool 'x' could not be started: {tmp_path / 'tools' / 'x'} is not executable (chmod +x)",
        exit_code=126,
    )


async def test_an_answer_that_its_output_schema_refuses_is_told_field_by_field(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n", "of"]}

    outcome = await outcome_of(tmp_path, SHELL + 'echo \'{"n": "one"}\'', call(), outputSchema=schema)

    assert outcome.model_dump() == failure(
        "INVALID_OUTPUT",
        "Tool 'x' returned JSON that does not match its output schema: "
        'n: "one" is not of type "integer"; of: required, and missing',
        exit_code=0,
        stdout='{"n": "one"}\n',
    )


@pytest.mark.parametrize("size_bytes", [MAX_ANSWER_BYTES - 1, MAX_ANSWER_BYTES])
async def test_an_answer_up_to_the_cap_arrives_whole(tmp_path: Path, size_bytes: int) -> None:
    script = f"import sys\nsys.stdout.write('\"' + 'x' * {size_bytes - 2} + '\"')"

    outcome = await outcome_of(tmp_path, PYTHON + script, call())

    assert isinstance(outcome, ToolSuccess)
    assert outcome.result == "x" * (size_bytes - 2)


@pytest.mark.parametrize(
    ("printed", "size_bytes"),
    [
        pytest.param("'\"head' + 'x' * 1048567 + 'tail\"'", 1_048_576 + 1, id="one byte more"),
        pytest.param("'\"head' + 'x' * 5000000 + 'tail\"'", 5_000_010, id="megabytes more"),
        pytest.param(
            "'\"head' + '\\\\u00e9' * 200000 + 'tail\"'", 1_200_010, id="within the cap but for its escapes"
        ),
    ],
)
async def test_an_answer_above_the_cap_as_it_is_printed_is_refused_with_its_ends(
    tmp_path: Path, printed: str, size_bytes: int
) -> None:
    script = f"import sys\nsys.stdout.write({printed})"

    outcome = await outcome_of(tmp_path, PYTHON + script, call(), limits={"stdout": 256})

    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.exit_code, outcome.error) == (
        "OUTPUT_TOO_LARGE",
        0,
        f"Tool 'x' returned an answer of {size_bytes:,} bytes above the limit of 1MB; ask for less at once",
    )
    assert len(outcome.stdout.encode()) <= 256
    assert outcome.stdout.startswith('"head')
    assert outcome.stdout.endswith('tail"')
    assert "more bytes] ..." in outcome.stdout


async def test_a_tool_that_is_not_here_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()

    outcome = await executor(tmp_path).run(call())

    assert outcome.model_dump() == failure(
        "TOOL_NOT_FOUND", "Tool 'x' is not known to the executor that was asked for it"
    )


async def test_a_tool_of_another_queue_is_not_run_here(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", "", executorQueue="gpu")
    (tmp_path / "tools" / "x").unlink()

    outcome = await executor(tmp_path).run(call())

    assert isinstance(outcome, ToolFailure)
    assert outcome.error_code == "TOOL_NOT_FOUND"


@pytest.mark.parametrize("size_bytes", [10, 200_000])
async def test_params_of_any_size_reach_the_tool(tmp_path: Path, size_bytes: int) -> None:
    script = (
        "import json, sys\nargument = sys.argv[1]\ntext = sys.stdin.read() if argument == '-' else argument"
    )
    text = "é" * (size_bytes // 2)

    outcome = await outcome_of(
        tmp_path, f"{PYTHON}{script}\nprint(json.dumps(json.loads(text)))", call({"a": text})
    )

    assert outcome == ToolSuccess(tool="x", result={"a": text})


async def test_a_tool_knows_its_call_its_timeout_and_its_directory_and_no_secret(tmp_path: Path) -> None:
    # Not from os.environ: at its start Python itself adds to it what it makes of the locale.
    script = """import json, os
with open('/proc/self/environ') as environ:
    given = dict(pair.split('=', 1) for pair in environ.read().split('\\0') if pair)
print(json.dumps([given, os.getcwd()]))
"""

    outcome = await outcome_of(tmp_path, PYTHON + script, call(seconds=12.5))

    given: dict[str, JsonValue] = {
        "PATH": os.environ["PATH"],
        "LC_TIME": "C",
        "SUREFOOT_CALL_ID": "run-1/2-1",
        "SUREFOOT_TIMEOUT_SECONDS": "12.5",
    }
    assert outcome == ToolSuccess(tool="x", result=[given, str((tmp_path / "work").resolve())])


async def test_a_working_directory_that_is_gone_is_told(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + "echo 1")
    gone = replace(executor(tmp_path), directory=tmp_path / "gone")

    outcome = await gone.run(call())

    assert outcome.model_dump() == failure(
        "TOOL_CRASHED",
        f"Tool 'x' could not be started: its working directory {tmp_path / 'gone'} cannot be entered: "
        "No such file or directory",
        exit_code=126,
    )


async def test_what_a_tool_has_said_so_far_can_be_watched(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo oh >&2; printf '[1, '; {WAIT_FOR_GO}; echo '2]'")
    watched: list[Callable[[], Capture]] = []

    running = asyncio.create_task(executor(tmp_path).run(call(), watch=watched.append))
    await until(lambda: bool(watched) and watched[0]() == Capture(stdout="[1, ", stderr="oh\n"))
    (tmp_path / "work" / "go").touch()

    async with asyncio.timeout(10):
        assert await running == ToolSuccess(tool="x", result=[1, 2])
    assert watched[0]() == Capture(stdout="[1, 2]\n", stderr="oh\n")


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + "sleep 300 & echo $$ $! > pids; wait")
    pids = tmp_path / "work" / "pids"

    running = asyncio.create_task(executor(tmp_path).run(call()))
    await until(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    running.cancel()

    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await running
    for pid in pids.read_text().split():
        await until(lambda pid=pid: not is_alive(int(pid)))


async def test_the_definition_of_a_tool_is_given_by_name(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL, timeoutSeconds=7)

    tools = executor(tmp_path)

    definition = tools.definition("x")
    assert definition is not None
    assert json.loads(definition.model_dump_json())["timeoutSeconds"] == 7
    assert tools.definition("y") is None
