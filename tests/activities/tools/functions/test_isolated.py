import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from activities.interface import Capture
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.functions.written import call, executor_of, outcome_of, write_module
from tests.activities.tools.tool_run import is_alive, until

SOURCE = """
    import subprocess, sys
    from .helper import ANSWER

    @tool(isolated=True)
    async def x(do: str, text: str = "") -> dict[str, Any]:
        '''Do as told.'''
        print("on it")
        os.write(1, b"not JSON")
        match do:
            case "answer":
                subprocess.run(["echo", "from below"])
                known = current_call()
                environment = sorted(os.environ.keys() & {"SECRET", "SUREFOOT_CALL_ID"})
                return {"call": known.id, "here": known.directory == Path.cwd(), "environment": environment,
                        "answer": ANSWER, "letters": len(text)}
            case "fail":
                raise ToolError("no such thing", "not_found")
            case "leave":
                raise SystemExit(4)
            case "abort":
                os.abort()
            case "nan":
                return {"n": float("nan")}
            case "shadow":
                import colorsys
                return {"installed": hasattr(colorsys, "rgb_to_hsv")}
            case _:
                child = subprocess.Popen(["sleep", "300"], start_new_session=True)
                Path("child").write_text(str(child.pid))
                time.sleep(300)
"""


async def outcome(directory: Path, do: str, **params: Any) -> dict[str, Any]:  # noqa: ANN401
    (directory / "tools").mkdir()
    (directory / "tools" / "helper.py").write_text("ANSWER = 42\n")
    (directory / "colorsys.py").write_text("raise RuntimeError\n")
    found = await outcome_of(directory, SOURCE, call({"do": do, **params}))
    return found.model_dump()


async def test_it_answers_whatever_else_it_prints(tmp_path: Path) -> None:
    assert await outcome(tmp_path, "answer", text="é" * 200_000) == {
        "tool": "x",
        "tool_success": True,
        "result": {
            "success": True,
            "error": None,
            "call": "run-1/2-1",
            "here": True,
            "environment": ["SUREFOOT_CALL_ID"],
            "answer": 42,
            "letters": 200_000,
        },
    }


async def test_a_failed_operation_is_an_answer_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        found = await outcome(tmp_path, "fail")
    assert found["result"] == {"success": False, "error": "no such thing", "error_code": "not_found"}
    assert "ToolError: no such thing" in caplog.text


@pytest.mark.parametrize(
    ("do", "code", "error", "exit_code", "stderr"),
    [
        pytest.param(
            "leave", "TOOL_CRASHED", "Tool 'x' crashed with exit code 4", 4, "on it\nnot JSON", id="it leaves"
        ),
        pytest.param(
            "abort",
            "TOOL_CRASHED",
            "Tool 'x' crashed with exit code 134",
            134,
            "on it\nnot JSON",
            id="aborts",
        ),
        pytest.param(
            "nan",
            "INVALID_OUTPUT",
            "Tool 'x' returned invalid JSON",
            0,
            "on it\nnot JSONwhat it returned is no JSON: Out of range float values are not JSON compliant\n",
            id="NaN",
        ),
    ],
)
async def test_what_is_no_answer_is_told_as_of_any_executable(
    tmp_path: Path, do: str, code: str, error: str, exit_code: int, stderr: str
) -> None:
    assert await outcome(tmp_path, do) == {
        "tool_success": False,
        "error": error,
        "error_code": code,
        "exit_code": exit_code,
        "stdout": "",
        "stderr": stderr,
    }


async def test_nothing_in_the_working_directory_takes_a_modules_place(tmp_path: Path) -> None:
    assert (await outcome(tmp_path, "shadow"))["result"]["installed"] is True


async def test_its_end_is_the_end_of_all_that_it_started(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "helper.py").write_text("ANSWER = 42\n")
    write_module(tmp_path / "tools", "written", SOURCE)
    watched: list[Callable[[], Capture]] = []
    executor = executor_of(tmp_path, tmp_path / "tools")
    running = asyncio.create_task(executor.run(call({"do": "hang"}), watch=watched.append))
    await until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text() != "")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert watched[0]().stderr == "on it\nnot JSON"
    assert not is_alive(int((tmp_path / "child").read_text()))


async def test_a_module_that_is_gone_is_a_crash_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "helper.py").write_text("ANSWER = 42\n")
    path = write_module(tmp_path / "tools", "written", SOURCE)
    executor = executor_of(tmp_path, tmp_path / "tools")
    path.unlink()
    found = await executor.run(call({"do": "answer"}))
    assert isinstance(found, ToolFailure)
    assert (found.error_code, found.exit_code) == ("TOOL_CRASHED", 1)
    assert "No such file or directory" in found.stderr


async def test_a_function_of_a_module_is_found_by_its_name(tmp_path: Path) -> None:
    source = "@tool(isolated=True)\ndef x() -> int:\n    '''Do.'''\n    return 7\nALL = [x]\n"
    write_module(tmp_path, "module_of_an_isolated_tool", source)
    found = await executor_of(tmp_path, f"{tmp_path}:module_of_an_isolated_tool:ALL").run(call())
    assert isinstance(found, ToolSuccess)
    assert found.result == {"success": True, "error": None, "result": 7}
