"""What an operator does to a run and to its calls."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from pydantic import JsonValue
from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
)
from temporalio.common import RawValue

from activities.interface import LlmTurnResult
from surefoot.conversation import Message
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.replay.scenarios.real_tools import BEGUN, HANGS, Run, own_tools
from tests.replay.stage import Stage, ended
from tests.workers.real_workers import until_running
from tests.workflows.agents import Replies, answer, calls, says, serving, tool
from tests.workflows.operators import cancel_call, send, until_scheduled
from workers.snapshot import snapshot_of


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


async def tool_cancelled_though_it_goes_on(stage: Stage) -> None:
    """An operator cancels a call whose executor does not obey, and the run lets go of it."""
    began, end = asyncio.Event(), asyncio.Event()

    async def deaf(_: RawValue) -> JsonValue:
        began.set()
        while not end.is_set():
            with suppress(asyncio.CancelledError):
                activity.heartbeat()
                await asyncio.sleep(0.05)
        return "too late"

    model = Replies([calls(("x", {})), says("Done.")])
    async with serving(stage.client, model, [tool("x", deaf)], queue=stage.name):
        run = await stage.start(stage.name)
        await began.wait()
        await cancel_call(run, "1-1")
        await ended(run)
        end.set()


async def message_is_sent(stage: Stage) -> None:
    """Somebody sends messages while a tool runs, and one while the model gives its answer."""
    began, go, asking, answer_now = (asyncio.Event() for _ in range(4))

    async def hold(_: RawValue) -> JsonValue:
        began.set()
        await go.wait()
        return None

    class Held(Replies):
        async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
            result = await super().reply(messages, closing=closing)
            if len(self.asked) == 2:
                asking.set()
                await answer_now.wait()
            return result

    model = Held([calls(("x", {})), says("Done."), says("Done, too.")])
    async with serving(stage.client, model, [tool("x", hold)], queue=stage.name):
        run = await stage.start(stage.name)
        await began.wait()
        await send(run, "Look in /srv, too.", "Ada")
        await send(run, "And hurry.")
        go.set()
        await asking.wait()
        await send(run, "One thing more.")
        answer_now.set()
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


SCENARIOS = (
    run_is_cancelled,
    run_is_cancelled_behind_an_exclusive_call,
    tool_cancelled,
    tool_cancelled_before_it_started,
    tool_cancelled_though_it_goes_on,
    call_is_paused,
    call_is_paused_and_unpaused,
    call_is_reset,
    message_is_sent,
)
