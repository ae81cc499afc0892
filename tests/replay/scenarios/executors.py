"""What befalls calls from outside: real tools, their workers' ends, and what an operator does."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from pydantic import JsonValue
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
)
from temporalio.client import WorkflowHandle

from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.replay.stage import Stage, ended
from tests.workers.real_workers import WorkerProcess, until_running, worker_of
from tests.workers.real_workers import says as printed
from tests.workflows.agents import FakeTool, Replies, answer, calls, says, serving, tool
from tests.workflows.operators import cancel_call, until_scheduled
from workers.snapshot import snapshot_of

Run = WorkflowHandle[Any, Any]

HANGS = f"{SHELL}echo begun; exec sleep 60\n"
BEGUN = printed("begun\n")


@asynccontextmanager
async def own_tools(stage: Stage, *turns: str) -> AsyncGenerator[Run]:
    """Have a real worker serve a run and the tools on disk; each turn calls these tools."""
    nothing: JsonValue = {}
    replies = [*(calls(*[(name, nothing) for name in turn.split()]) for turn in turns), says("Done.")]
    async with worker_of(stage.client, stage.directory, Replies(replies), queue=stage.name):
        yield await stage.start(stage.name)


async def tools_on_disk(stage: Stage) -> None:
    """Real tools: one answers, one crashes, one is too slow, one talks nonsense, one too much."""
    tools = stage.directory / "tools"
    write_tool(tools, "good", f"{SHELL}echo '{{\"ok\": true}}'\n")
    write_tool(tools, "crash", f"{SHELL}echo out; echo err >&2; kill -SEGV $$\n")
    write_tool(tools, "slow", HANGS, timeoutSeconds=1)
    write_tool(tools, "nonsense", f"{SHELL}echo nonsense\n")
    write_tool(tools, "flood", f"{SHELL}yes surefoot | head -c 3000000; exit 1\n")
    async with own_tools(stage, "good", "crash slow nonsense flood", "good good") as run:
        await ended(run)


async def run_is_cancelled(stage: Stage) -> None:
    """The whole run is cancelled in the middle of two calls."""
    write_tool(stage.directory / "tools", "x", HANGS)
    async with own_tools(stage, "x x") as run:
        await until_running(run, BEGUN)
        await run.cancel()
        await ended(run)


async def run_is_cancelled_behind_an_exclusive_call(stage: Stage) -> None:
    """The whole run is cancelled while one call runs and the other waits for it."""
    write_tool(stage.directory / "tools", "x", HANGS, exclusive=True)
    async with own_tools(stage, "x x") as run:
        await until_running(run, BEGUN)
        await run.cancel()
        await ended(run)


async def tool_cancelled(stage: Stage) -> None:
    """An operator cancels one of two calls that run."""
    write_tool(stage.directory / "tools", "x", HANGS)
    write_tool(stage.directory / "tools", "y", f"{SHELL}{WAIT_FOR_GO}; echo true\n")
    async with own_tools(stage, "x y") as run:
        await until_running(run, BEGUN)
        await cancel_call(run, "1-1")
        (stage.directory / "go").touch()
        await ended(run)


async def tool_cancelled_before_it_started(stage: Stage) -> None:
    """An operator cancels a call that nobody has taken, and one that waits for it."""
    nobodys = tool("x", answer, exclusive=True, executorQueue=stage.other_queue, pickupTimeoutSeconds=600)
    model = Replies([calls(("x", {}), ("x", {})), says("Done.")])
    async with serving(stage.client, model, [nobodys], queue=stage.name):
        run = await stage.start(stage.name)
        await until_scheduled(run, "1-1")
        await cancel_call(run, "1-2")
        await cancel_call(run, "1-1")
        await ended(run)


async def _operated(stage: Stage, *deeds: Callable[[Stage], Awaitable[object]]) -> None:
    script = f"{SHELL}while [ ! -e go ]; do printf 1; sleep 0.1; done\n"
    write_tool(stage.directory / "tools", "x", script)
    async with own_tools(stage, "x") as run:
        await until_running(run, lambda one: one.captured is not None)
        for deed in deeds:
            await deed(stage)
            await _until_heard(run)
        (stage.directory / "go").touch()
        await ended(run)


async def _until_heard(run: Run) -> None:
    """Wait until the call went on for some heartbeats, by which a worker hears of anything, or ended."""
    first: int | None = None
    while running := (await snapshot_of(run, served=True)).running:
        captured = running[0].captured
        length = len(captured.stdout) if captured else 0
        first = length if first is None else first
        if running[0].activity_id != "1-1" or length >= first + 20:
            return
        await asyncio.sleep(0.05)


def _call(stage: Stage) -> dict[str, Any]:
    execution = WorkflowExecution(workflow_id=stage.name)
    return {"namespace": stage.client.namespace, "execution": execution, "id": "1-1"}


async def _pause(stage: Stage) -> None:
    await stage.client.workflow_service.pause_activity(PauseActivityRequest(**_call(stage)))


async def _unpause(stage: Stage) -> None:
    await stage.client.workflow_service.unpause_activity(UnpauseActivityRequest(**_call(stage)))


async def _reset(stage: Stage) -> None:
    await stage.client.workflow_service.reset_activity(ResetActivityRequest(**_call(stage)))


async def call_is_paused(stage: Stage) -> None:
    """An operator pauses a call, and its tool finishes."""
    await _operated(stage, _pause)


async def call_is_paused_and_unpaused(stage: Stage) -> None:
    """An operator pauses a call and lets it go on."""
    await _operated(stage, _pause, _unpause)


async def call_is_reset(stage: Stage) -> None:
    """An operator resets a call."""
    await _operated(stage, _reset)


def _elsewhere(stage: Stage, *names: str) -> list[FakeTool]:
    """Tools on disk that another queue's worker serves, as the run knows them."""
    queued: dict[str, JsonValue] = {"executorQueue": stage.other_queue, "heartbeatSeconds": 2}
    for name in names:
        write_tool(stage.directory / "tools", name, HANGS)
    return [tool(name, answer, **queued) for name in names]


async def executor_queue(stage: Stage) -> None:
    """A worker of another queue answers."""
    tools = _elsewhere(stage, "x")
    write_tool(stage.directory / "tools", "x", f"{SHELL}echo '[1, 2]'\n")
    async with worker_of(stage.client, stage.directory, Replies([]), queue=stage.other_queue):
        await stage.play([calls(("x", {})), says("Done.")], tools)


async def tool_interrupted(stage: Stage) -> None:
    """The worker of a call is shut down."""
    model = Replies([calls(("x", {})), says("Done.")])
    async with serving(stage.client, model, _elsewhere(stage, "x"), queue=stage.name):
        settings = {"graceful_shutdown_timeout": 0}
        async with worker_of(stage.client, stage.directory, Replies([]), queue=stage.other_queue, **settings):
            run = await stage.start(stage.name)
            await until_running(run, BEGUN)
        await ended(run)


async def tool_lost_with_its_worker(stage: Stage) -> None:
    """The worker of two calls is killed."""
    model = Replies([calls(("x", {}), ("y", {})), says("Done.")])
    async with serving(stage.client, model, _elsewhere(stage, "x", "y"), queue=stage.name):
        with WorkerProcess(stage.client, stage.directory, queue=stage.other_queue) as worker:
            run = await stage.start(stage.name)
            await until_running(run, BEGUN)
            worker.kill()
        await ended(run)


SCENARIOS = (
    tools_on_disk,
    run_is_cancelled,
    run_is_cancelled_behind_an_exclusive_call,
    tool_cancelled,
    tool_cancelled_before_it_started,
    call_is_paused,
    call_is_paused_and_unpaused,
    call_is_reset,
    executor_queue,
    tool_interrupted,
    tool_lost_with_its_worker,
)
