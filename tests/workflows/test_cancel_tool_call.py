"""Cancelling one call: the model is told, and the run goes on."""

import asyncio
from collections.abc import Sequence

import pytest
from pydantic import JsonValue
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, CancelledError

from activities.interface import LlmTurnResult
from surefoot.conversation import Message
from surefoot.events import ToolExecutionFailed, ToolExecutionStarted
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import CANCEL_TOOL_CALL_UPDATE
from tests.workflows.agents import (
    FakeTool,
    Finished,
    Replies,
    answer,
    calls,
    finish,
    never,
    says,
    serving,
    start,
    tool,
    until_event,
)
from tests.workflows.operators import cancel_call, until_scheduled, update

ONE: list[tuple[str, JsonValue]] = [("x", {})]

CANCELLED = {
    "tool_success": False,
    "error": "Tool 'x' was cancelled by an operator",
    "error_code": "TOOL_CANCELLED",
    "exit_code": None,
    "stdout": "",
    "stderr": "",
}


def ending(finished: Finished, tool_exec_id: str) -> ToolExecutionFailed:
    (failed,) = [
        event
        for event in finished.events
        if isinstance(event, ToolExecutionFailed) and event.tool_exec_id == tool_exec_id
    ]
    return failed


class Obedient:
    """A tool that beats, and stops when it is told."""

    def __init__(self, name: str = "x", **more: object) -> None:
        self.began = asyncio.Event()
        self.tool: FakeTool = tool(name, self._act, **more)

    async def _act(self, _: RawValue) -> JsonValue:
        self.began.set()
        while True:
            activity.heartbeat()
            await asyncio.sleep(0.05)


async def test_a_call_that_an_operator_cancels_ends_alone_and_the_run_goes_on(client: Client) -> None:
    stuck = Obedient(heartbeatSeconds=1)
    model = Replies([calls(("x", {}), ("y", {})), says("Done.")])

    async with asyncio.timeout(20), serving(client, model, [stuck.tool, tool("y", answer)]) as queue:
        run = await start(client, queue)
        await stuck.began.wait()
        await cancel_call(run, "1-1")
        finished = await finish(run)

    assert [outcome.model_dump() for outcome in finished.outcomes] == [
        CANCELLED,
        ToolSuccess(tool="y", result={"ok": True}).model_dump(),
    ]
    assert (finished.result.answer, ending(finished, "1-1").acted) == ("Done.", "unknown")
    kinds = [type(event) for event in finished.events if getattr(event, "tool_exec_id", "") == "1-1"]
    assert kinds[-2:] == [ToolExecutionStarted, ToolExecutionFailed]


@pytest.mark.parametrize(
    "last", [pytest.param("x", id="behind an exclusive call"), pytest.param("", id="behind 32 others")]
)
async def test_a_call_that_waits_for_its_turn_is_cancelled_without_having_acted(
    client: Client, last: str
) -> None:
    go = asyncio.Event()

    async def hold(_: RawValue) -> JsonValue:
        await go.wait()
        return "held"

    ahead = 1 if last else 32
    held = tool("x", hold, exclusive=bool(last))
    model = Replies([calls(*ONE * (ahead + 1)), says("Done.")])

    async with asyncio.timeout(30), serving(client, model, [held]) as queue:
        run = await start(client, queue)
        await until_scheduled(run, f"1-{ahead}")
        await cancel_call(run, f"1-{ahead + 1}")
        go.set()
        finished = await finish(run)

    assert finished.outcomes == [ToolSuccess(tool="x", result="held")] * ahead + [
        ToolFailure.model_validate(CANCELLED)
    ]
    assert ending(finished, f"1-{ahead + 1}").acted == "no"


async def test_a_call_that_nobody_has_taken_is_cancelled_at_once(client: Client) -> None:
    nobodys = tool("x", never, executorQueue="nobody-serves-this", pickupTimeoutSeconds=600)

    async with (
        asyncio.timeout(10),
        serving(client, Replies([calls(("x", {})), says("Done.")]), [nobodys]) as queue,
    ):
        run = await start(client, queue)
        await until_scheduled(run, "1-1")
        await cancel_call(run, "1-1")
        finished = await finish(run)

    assert (finished.outcomes, ending(finished, "1-1").acted) == (
        [ToolFailure.model_validate(CANCELLED)],
        "no",
    )


@pytest.mark.slow
async def test_an_executor_that_does_not_obey_is_let_go_of_and_its_lock_is_freed(client: Client) -> None:
    """It beats, so that only the grace ends the wait; what it answers later changes nothing."""
    began, end = asyncio.Event(), asyncio.Event()

    async def deaf(_: RawValue) -> JsonValue:
        began.set()
        while not end.is_set():
            try:
                activity.heartbeat()
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                pass
        return "too late"

    async def after(_: RawValue) -> JsonValue:
        end.set()
        return "after"

    tools = [tool("x", deaf, exclusive=True, timeoutSeconds=600), tool("y", after, exclusive=True)]
    async with (
        asyncio.timeout(30),
        serving(client, Replies([calls(("x", {}), ("y", {})), says("Done.")]), tools) as queue,
    ):
        run = await start(client, queue)
        await began.wait()
        await cancel_call(run, "1-1")
        finished = await finish(run)

    assert finished.outcomes == [ToolFailure.model_validate(CANCELLED), ToolSuccess(tool="y", result="after")]
    assert ending(finished, "1-1").acted == "unknown"


async def test_cancelling_a_call_twice_is_harmless(client: Client) -> None:
    stuck = Obedient(heartbeatSeconds=1)

    async with (
        asyncio.timeout(20),
        serving(client, Replies([calls(("x", {})), says("Done.")]), [stuck.tool]) as queue,
    ):
        run = await start(client, queue)
        await stuck.began.wait()
        await asyncio.gather(cancel_call(run, "1-1"), cancel_call(run, "1-1"))
        finished = await finish(run)

    assert finished.outcomes == [ToolFailure.model_validate(CANCELLED)]


async def test_a_run_that_is_cancelled_while_one_of_its_calls_is_still_ends_as_cancelled(
    client: Client,
) -> None:
    stuck = Obedient(heartbeatSeconds=1)

    async with (
        asyncio.timeout(20),
        serving(client, Replies([calls(("x", {}), ("x", {}))]), [stuck.tool]) as queue,
    ):
        run = await start(client, queue)
        await stuck.began.wait()
        await cancel_call(run, "1-1")
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as failure:
            await run.result()

    assert isinstance(failure.value.cause, CancelledError)


@pytest.mark.parametrize(
    ("turn", "asked", "reason"),
    [
        pytest.param(
            "calls",
            "9-9",
            "there is no tool call '9-9'; running or waiting: 1-2",
            id="an id that no call has",
        ),
        pytest.param("calls", "1-1", "tool call '1-1' has already ended", id="a call that has ended"),
        pytest.param("asking", "1-1", "no tool call of this run is running", id="a run without calls"),
    ],
)
async def test_what_cannot_be_cancelled_is_refused_with_the_reason(
    client: Client, turn: str, asked: str, reason: str
) -> None:
    asked_model = asyncio.Event()

    class Waits(Replies):
        async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
            if turn == "asking":
                asked_model.set()
                await asyncio.Event().wait()
            return await super().reply(messages, closing=closing)

    stuck = Obedient(heartbeatSeconds=1)
    model = Waits([calls(("y", {}), ("x", {}))])
    async with asyncio.timeout(20), serving(client, model, [stuck.tool, tool("y", answer)]) as queue:
        run = await start(client, queue)
        if turn == "asking":
            await asked_model.wait()
        else:
            await until_event(run, "tool_execution_completed")
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await cancel_call(run, asked)
        await run.terminate()

    assert isinstance(refused.value.cause, ApplicationError)
    assert refused.value.cause.message == reason


async def test_a_request_of_another_shape_is_refused_and_leaves_the_run_alone(client: Client) -> None:
    stuck = Obedient(heartbeatSeconds=1)

    async with (
        asyncio.timeout(20),
        serving(client, Replies([calls(("x", {})), says("Done.")]), [stuck.tool]) as queue,
    ):
        run = await start(client, queue)
        await stuck.began.wait()
        with pytest.raises(WorkflowUpdateFailedError):
            await update(run, CANCEL_TOOL_CALL_UPDATE, {"call": 7})
        await cancel_call(run, "1-1")
        finished = await finish(run)

    assert finished.result.answer == "Done."
