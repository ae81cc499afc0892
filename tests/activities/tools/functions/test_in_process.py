import asyncio
import logging
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from activities.interface import Capture
from activities.tools.functions.in_process import InProcessTool
from activities.tools.functions.invocation import IGNORES_ITS_CANCEL, IN_A_THREAD
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.sizes import MAX_ANSWER_BYTES
from tests.activities.tools.functions.written import call, executor_of, outcome_of, write_module
from tests.activities.tools.tool_run import until


def x(body: str, *, returns: str = "Any", kind: str = "async def", above: str = "@tool") -> str:
    """Give the source of a tool `x` with one parameter."""
    body = textwrap.indent(textwrap.dedent(body), "    ")
    return f'{above}\n{kind} x(city: str = "Uji") -> {returns}:\n    """Do."""\n{body}\n'


def failure(code: str, error: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    keys = {"exit_code": None, "stdout": "", "stderr": ""}
    return {"tool_success": False, "error": error, "error_code": code, **keys, **more}


def answer(**fields: object) -> dict[str, Any]:
    return {"tool": "x", "tool_success": True, "result": {"success": True, "error": None, **fields}}


def failed(error: str, code: str, **fields: object) -> dict[str, Any]:
    result = {"success": False, "error": error, "error_code": code, **fields}
    return {"tool": "x", "tool_success": True, "result": result}


FOUND = "class Found(TypedDict):\n    city: str\n    works: list[str]\n    total: int\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(x("return {'n': 1}"), answer(n=1), id="an async function answers"),
        pytest.param(x("return {'n': 1}", kind="def"), answer(n=1), id="a plain function answers"),
        pytest.param(x("return [city]"), answer(result=["Uji"]), id="answers with a list"),
        pytest.param(x("return", returns="None"), answer(), id="answers nothing"),
        pytest.param(
            "import functools\n"
            "def twice(f):\n"
            "    @functools.wraps(f)\n"
            "    def wrapper(**given):\n"
            "        return f(**given)\n"
            "    return wrapper\n" + x("return 1", above="@twice\n@tool"),
            answer(result=1),
            id="a decorator above it is called, too",
        ),
        pytest.param(
            FOUND + x("raise ToolError('no such city', 'not_found', total=0)", returns="Found"),
            failed("no such city", "not_found", city="Uji", works=[], total=0),
            id="says that its operation failed",
        ),
        pytest.param(
            x("return ToolResult(False, message='gone', error_code='not_found')", returns="ToolResult[int]"),
            failed("gone", "not_found", result=None),
            id="returns a failed result",
        ),
        pytest.param(
            x("return {}['a']"), failed("KeyError: 'a'", "internal_error"), id="an async function has a bug"
        ),
        pytest.param(
            x("return {}['a']", kind="def"),
            failed("KeyError: 'a'", "internal_error"),
            id="a plain function has a bug",
        ),
        pytest.param(
            x("async with asyncio.timeout(0.01):\n    await asyncio.sleep(20)"),
            failed("TimeoutError", "timeout"),
            id="a timeout of its own",
        ),
        pytest.param(
            x("next(iter(()))", kind="def"),
            failed("StopIteration", "internal_error"),
            id="an exception that futures refuse",
        ),
        pytest.param(
            x("raise SystemExit(3)"),
            failure("TOOL_CRASHED", "Tool 'x' crashed: SystemExit: 3"),
            id="an async function leaves",
        ),
        pytest.param(
            x("raise KeyboardInterrupt", kind="def"),
            failure("TOOL_CRASHED", "Tool 'x' crashed: KeyboardInterrupt"),
            id="a plain function leaves",
        ),
        pytest.param(
            x("raise asyncio.CancelledError"),
            failure("TOOL_CRASHED", "Tool 'x' crashed: CancelledError"),
            id="a cancellation that nobody asked for",
        ),
        pytest.param(
            "class Odd(dict):\n"
            "    def items(self):\n"
            "        raise KeyError('a')\n" + x("return {'odd': Odd(a=1)}"),
            failure("TOOL_CRASHED", "Tool 'x' crashed: KeyError: 'a'"),
            id="an answer that raises when it is read",
        ),
        pytest.param(
            "class Mute(Exception):\n"
            "    def __str__(self):\n"
            "        raise ValueError('no')\n" + x("raise Mute"),
            failure("TOOL_CRASHED", "Tool 'x' crashed: ValueError: no"),
            id="an exception that cannot say what it is",
        ),
        pytest.param(
            x("return {'n': float('nan')}"),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned invalid JSON",
                stderr="what it returned is no JSON: Out of range float values are not JSON compliant\n",
            ),
            id="NaN",
        ),
        pytest.param(
            x("return '\\ud800'"),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned invalid JSON",
                stdout='{"success": true, "error": null, "result": "\ufffd"}',
                stderr="what it returned is no JSON: a lone surrogate in a string\n",
            ),
            id="a lone surrogate",
        ),
        pytest.param(
            FOUND + x("return {'city': 1, 'works': []}", returns="Found"),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned JSON that does not match its output schema: "
                'city: 1 is not of type "string"; total: required, and missing',
                stdout='{"success": true, "error": null, "city": 1, "works": []}',
            ),
            id="an answer that its return type refuses",
        ),
        pytest.param(
            x("c = current_call()\nreturn [c.id, c.directory.name, c.timeout_seconds]"),
            answer(result=["run-1/2-1", "work", 20]),
            id="knows its call",
        ),
        pytest.param(
            x("return current_call().id", kind="def"), answer(result="run-1/2-1"), id="knows it in a thread"
        ),
    ],
)
async def test_every_ending_of_a_function_has_its_outcome(
    tmp_path: Path, source: str, expected: dict[str, Any]
) -> None:
    write_module(tmp_path / "tools", "written", source)
    outcome = await executor_of(tmp_path / "work", tmp_path / "tools").run(call())
    assert outcome.model_dump() == expected


async def test_a_failed_operation_is_logged_with_its_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await outcome_of(tmp_path, x("return {}['a']"), call())
    assert caplog.messages == ["tool x failed in the call run-1/2-1"]
    assert "KeyError: 'a'" in caplog.text
    assert "in x" in caplog.text


@pytest.mark.parametrize("kind", ["async def", "def"])
async def test_an_answer_above_the_cap_is_refused_with_its_ends(tmp_path: Path, kind: str) -> None:
    outcome = await outcome_of(tmp_path, x(f"return 'x' * {MAX_ANSWER_BYTES}", kind=kind), call())
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.exit_code) == ("OUTPUT_TOO_LARGE", None)
    assert outcome.stdout.endswith('x"}')


async def test_params_become_what_the_annotations_say(tmp_path: Path) -> None:
    source = """
        from dataclasses import dataclass
        @dataclass
        class Place:
            latitude: float
        @tool
        def x(place: Place, day: Path) -> str:
            '''Do.'''
            return f"{place} {day!r}"
    """
    outcome = await outcome_of(tmp_path, source, call({"place": {"latitude": 1}, "day": "a/b"}))
    assert outcome.model_dump() == answer(result="Place(latitude=1.0) PosixPath('a/b')")


async def test_params_that_only_python_refuses_are_invalid_input(tmp_path: Path) -> None:
    source = """
        from datetime import date
        @tool
        def x(day: date) -> str:
            '''Do.'''
            return str(day)
    """
    outcome = await outcome_of(tmp_path, source, call({"day": "2020-02-30"}))
    assert isinstance(outcome, ToolSuccess)
    assert outcome.result == {
        "success": False,
        "error": "day: Input should be a valid date or datetime, day value is outside expected range",
        "error_code": "invalid_input",
        "result": "",
    }


ENDLESS = """
    while not Path("{directory}/go").exists():
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            Path("{directory}/told").touch()
            {reaction}
"""


def endless(directory: Path, reaction: str = "raise") -> str:
    return x(ENDLESS.format(directory=directory, reaction=reaction))


WAITS_IN_A_THREAD = """
    while not Path("{directory}/go").exists():
        time.sleep(0.01)
    Path("{directory}/went").touch()
"""


def thread(directory: Path) -> str:
    return x(WAITS_IN_A_THREAD.format(directory=directory), kind="def")


async def test_an_async_function_is_cancelled_at_its_deadline(tmp_path: Path) -> None:
    outcome = await outcome_of(tmp_path, endless(tmp_path), call(seconds=0.2))
    assert outcome.model_dump() == failure("TOOL_TIMEOUT", "Tool 'x' timed out after 0.2s")
    assert (tmp_path / "told").exists()


async def test_one_that_ignores_its_cancel_is_left_behind(tmp_path: Path) -> None:
    outcome = await outcome_of(tmp_path, endless(tmp_path, "pass"), call(seconds=0.2))
    assert outcome.model_dump() == failure(
        "TOOL_TIMEOUT", "Tool 'x' timed out after 0.2s", stderr=IGNORES_ITS_CANCEL
    )
    (tmp_path / "go").touch()


async def test_a_threads_timeout_says_that_it_may_still_be_acting(tmp_path: Path) -> None:
    outcome = await outcome_of(tmp_path, thread(tmp_path), call(seconds=0.2))
    assert outcome.model_dump() == failure(
        "TOOL_TIMEOUT", "Tool 'x' timed out after 0.2s", stderr=IN_A_THREAD
    )
    (tmp_path / "go").touch()
    await until((tmp_path / "went").exists)


@pytest.mark.parametrize(
    ("source", "note"),
    [
        pytest.param(endless, "", id="an async function ends"),
        pytest.param(thread, IN_A_THREAD, id="a thread goes on"),
    ],
)
async def test_a_cancelled_call_passes_its_cancellation_on(
    tmp_path: Path, source: Callable[[Path], str], note: str
) -> None:
    write_module(tmp_path / "tools", "written", source(tmp_path))
    watched: list[Callable[[], Capture]] = []
    running = asyncio.create_task(executor_of(tmp_path, tmp_path / "tools").run(call(), watch=watched.append))
    await until(lambda: bool(watched))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert watched[0]() == Capture(stderr=note)
    (tmp_path / "go").touch()


async def test_too_many_threads_left_behind_refuse_the_next_call(tmp_path: Path) -> None:
    write_module(tmp_path / "tools", "written", thread(tmp_path))
    executor = executor_of(tmp_path, tmp_path / "tools")
    tool = executor.tools["x"]
    assert isinstance(tool, InProcessTool)
    tool.threads.most_left_behind = 1
    first, second = [await executor.run(call(seconds=0.05)) for _ in range(2)]
    assert isinstance(first, ToolFailure)
    assert isinstance(second, ToolFailure)
    assert (first.error_code, second.error_code, second.exit_code) == ("TOOL_TIMEOUT", "TOOL_CRASHED", 126)
    assert second.error.startswith("Tool 'x' could not be started: 1 calls of functions that have ended")
    (tmp_path / "go").touch()
    await until(lambda: tool.threads.left_behind == 0)
    assert isinstance(await executor.run(call()), ToolSuccess)


@pytest.mark.parametrize("kind", ["async def", "def"])
async def test_what_a_function_prints_is_kept_from_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    outcome = await outcome_of(tmp_path, x("print('from the function')", kind=kind), call())
    sys.stdout.write("from the command\n")
    assert isinstance(outcome, ToolSuccess)
    assert capsys.readouterr() == ("from the command\n", "from the function\n")


async def test_who_holds_the_event_loop_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await outcome_of(tmp_path, x("time.sleep(1.1)\nawait asyncio.sleep(0)"), call())
    assert [message[:40] for message in caplog.messages] == ["the tool function x held the event loop "]
