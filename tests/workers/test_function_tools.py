"""Python functions as tools, on a real worker: whatever ends their calls, the model is told the truth."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from activities.tools.functions.invocation import IN_A_THREAD
from surefoot.outcome import ToolFailure
from tests.activities.tools.functions.written import write_module
from tests.activities.tools.tool_run import is_alive, until
from tests.workers.real_workers import new_queue, pid_in, worker_of, working
from tests.workflows.agents import Replies, calls, finish, says, start
from tests.workflows.operators import cancel_call
from workers.served_queues import ServedQueue
from workers.takeover import tools_of

pytestmark = pytest.mark.slow

SOURCE = """
    ENOUGH_TO_START = 8

    @tool
    async def shout(text: str) -> str:
        '''Shout.'''
        return text.upper()

    @tool
    def look_up(name: str) -> dict[str, Any]:
        '''Look up.'''
        raise ToolError(f"nobody is called {name}", "not_found")

    @tool(timeout_seconds=1)
    async def wait_async(name: str = "a") -> None:
        '''Wait.'''
        (current_call().directory / name).write_text("begun\\n")
        try:
            await asyncio.sleep(300)
        finally:
            (current_call().directory / name).write_text("cancelled\\n")

    @tool(timeout_seconds=1)
    def wait_in_a_thread(name: str = "b") -> None:
        '''Wait.'''
        (current_call().directory / name).write_text("begun\\n")
        while not (current_call().directory / "go").exists():
            time.sleep(0.01)

    @tool(timeout_seconds=ENOUGH_TO_START, isolated=True)
    def wait_in_a_process() -> None:
        '''Wait.'''
        print("half", end="")
        (current_call().directory / "pid").write_text(f"{os.getpid()}\\n")
        time.sleep(300)
"""

WAITING: tuple[tuple[str, JsonValue], ...] = (
    ("wait_async", {}),
    ("wait_in_a_thread", {}),
    ("wait_in_a_process", {}),
)


def patient(directory: Path) -> None:
    write_module(directory / "tools", "functions", SOURCE.replace("timeout_seconds=", "timeout_seconds=300+"))


def told(outcome: object) -> tuple[str, str] | object:
    """Give code and stderr of a failure, and else what was answered."""
    if isinstance(outcome, ToolFailure):
        return outcome.error_code, outcome.stderr
    return getattr(outcome, "result", None)


async def until_begun(directory: Path) -> int:
    """Wait until all three are at it; gives the process of the isolated one."""
    for name in ("a", "b"):
        await until((directory / name).exists)
    return await pid_in(directory / "pid")


async def test_functions_of_every_kind_are_told_of_in_one_turn(client: Client, tmp_path: Path) -> None:
    write_module(tmp_path / "tools", "functions", SOURCE)
    model = Replies([calls(("shout", {"text": "hey"}), ("look_up", {"name": "Bo"}), *WAITING), says("Done.")])

    async with asyncio.timeout(40), working(client, tmp_path, model) as queue:
        finished = await finish(await start(client, queue))
        (tmp_path / "go").touch()

    assert [told(outcome) for outcome in finished.outcomes] == [
        {"success": True, "error": None, "result": "HEY"},
        {"success": False, "error": "nobody is called Bo", "error_code": "not_found"},
        ("TOOL_TIMEOUT", ""),
        ("TOOL_TIMEOUT", IN_A_THREAD),
        ("TOOL_TIMEOUT", "half"),
    ]
    assert (tmp_path / "a").read_text() == "cancelled\n"


async def test_calls_that_an_operator_cancels_are_told_as_cancelled(client: Client, tmp_path: Path) -> None:
    patient(tmp_path)
    model = Replies([calls(*WAITING), says("Done.")])

    async with asyncio.timeout(40), working(client, tmp_path, model) as queue:
        run = await start(client, queue)
        pid = await until_begun(tmp_path)
        for number in (1, 2, 3):
            await cancel_call(run, f"1-{number}")
        finished = await finish(run)
        alive = is_alive(pid)
        (tmp_path / "go").touch()

    assert [told(outcome) for outcome in finished.outcomes] == [
        ("TOOL_CANCELLED", ""),
        ("TOOL_CANCELLED", IN_A_THREAD),
        ("TOOL_CANCELLED", "half"),
    ]
    assert ((tmp_path / "a").read_text(), alive) == ("cancelled\n", False)


async def test_calls_of_a_worker_that_is_shut_down_are_interrupted(client: Client, tmp_path: Path) -> None:
    patient(tmp_path)
    model = Replies([calls(*WAITING), says("Done.")])
    queue = new_queue()
    quick: dict[str, Any] = {"graceful_shutdown_timeout": 0.2}

    async with asyncio.timeout(40):
        async with worker_of(client, tmp_path, model, queue=queue, **quick):
            run = await start(client, queue)
            await until_begun(tmp_path)
        async with worker_of(client, tmp_path, model, queue=queue):
            finished = await finish(run)
        (tmp_path / "go").touch()

    assert [told(outcome) for outcome in finished.outcomes] == [
        ("TOOL_INTERRUPTED", ""),
        ("TOOL_INTERRUPTED", IN_A_THREAD),
        ("TOOL_INTERRUPTED", "half"),
    ]


async def test_a_cancelled_run_cancels_its_functions(client: Client, tmp_path: Path) -> None:
    patient(tmp_path)
    model = Replies([calls(*WAITING)])

    async with asyncio.timeout(40), working(client, tmp_path, model) as queue:
        run = await start(client, queue)
        pid = await until_begun(tmp_path)
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as failed:
            await run.result()
        alive = is_alive(pid)
        (tmp_path / "go").touch()

    assert isinstance(failed.value.cause, CancelledError)
    assert ((tmp_path / "a").read_text(), alive) == ("cancelled\n", False)


def test_a_remembered_function_is_found_from_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_module(tmp_path / "project", "module_of_a_remembered_run", SOURCE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(sys, "path", [*sys.path])
    served = ServedQueue(
        queue="q",
        workflow_id="w",
        tool_directories=(f"{tmp_path}/project:module_of_a_remembered_run:shout",),
        working_directory=tmp_path,
    )

    found = tools_of(served)

    assert (list(found.tools), found.problems) == (["shout"], ())
