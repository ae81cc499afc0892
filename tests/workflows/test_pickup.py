import asyncio
import secrets
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from pydantic import JsonValue
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import CancelledError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.heartbeats import BeatIntervals
from activities.llm_turn import LlmTurns
from surefoot.events import ToolExecutionFailed, ToolExecutionStarted
from surefoot.outcome import ToolFailure
from tests.workflows.agents import (
    FakeTools,
    Finished,
    Replies,
    answer,
    calls,
    finish,
    never,
    remembering,
    run_agent,
    says,
    serving,
    start,
    tool,
    until_event,
    until_history_holds,
)
from workers.runtime import shared_runtime
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent

pytestmark = pytest.mark.slow


def a_queue() -> str:
    return f"gpu-{secrets.token_hex(4)}"


def reasons(finished: Finished, queue: str) -> list[str]:
    """Why each call of a run was not picked up."""
    failed = [outcome for outcome in finished.outcomes if isinstance(outcome, ToolFailure)]
    before = f"Tool 'x' was not picked up within 1s on '{queue}': "
    return [one.error.removeprefix(before) for one in failed if one.error_code == "TOOL_INVOCATION_TIMEOUT"]


async def test_a_call_that_nobody_listens_for_was_never_made(client: Client) -> None:
    queue = a_queue()
    remote = tool("x", never, executorQueue=queue, pickupTimeoutSeconds=1)

    finished = await run_agent(client, [calls(("x", {})), says("Done.")], [remote])

    assert reasons(finished, queue) == ["nobody listens on this queue"]
    ended = [event for event in finished.events if isinstance(event, ToolExecutionFailed)]
    assert [(event.acted, event.error.code) for event in ended] == [("no", "TOOL_INVOCATION_TIMEOUT")]
    assert not any(isinstance(event, ToolExecutionStarted) for event in finished.events)


@pytest.mark.parametrize(
    ("listeners", "reason"),
    [
        pytest.param(1, "its only listener is busy, or went away within the last 70s", id="one"),
        pytest.param(2, "all of its 2 listeners are busy, or went away within the last 70s", id="two"),
    ],
)
async def test_listeners_at_their_capacity_are_told_from_none(
    client: Client, listeners: int, reason: str
) -> None:
    queue, over = a_queue(), asyncio.Event()

    async def occupy(_: RawValue) -> bool:
        return await over.wait()

    remote = tool("x", occupy, executorQueue=queue, pickupTimeoutSeconds=1)
    params: JsonValue = {}
    one_too_many = calls(*[("x", params)] * (listeners + 1))
    async with AsyncExitStack() as workers:
        run_queue = await workers.enter_async_context(
            serving(client, Replies([one_too_many, says("Done.")]), [remote])
        )
        for n in range(listeners):
            # The SDK refuses two workers for one queue on one connection.
            own = await Client.connect(
                client.service_client.config.target_host,
                namespace=client.namespace,
                identity=f"listener-{n}",
                runtime=shared_runtime(),
            )
            await workers.enter_async_context(listener(own, queue, FakeTools([remote])))
        run = await start(client, run_queue)
        await until_event(run, "tool_execution_failed")
        over.set()
        finished = await finish(run)

    assert reasons(finished, queue) == [reason]


def listener(client: Client, queue: str, tools: FakeTools) -> Worker:
    """Give an executor of a queue that runs one call at a time."""
    return Worker(client, task_queue=queue, activities=[tools.run_tool], max_concurrent_activities=1)


async def test_where_the_server_cannot_tell_a_call_was_only_not_picked_up(
    time_skipping: WorkflowEnvironment,
) -> None:
    queue = a_queue()
    remote = tool("x", never, executorQueue=queue, pickupTimeoutSeconds=1)

    finished = await run_agent(time_skipping.client, [calls(("x", {})), says("Done.")], [remote])

    assert reasons(finished, queue) == ["no executor took it in time"]


async def test_a_run_whose_own_queue_is_busy_goes_on_without_the_reason(client: Client) -> None:
    """The question waits in the same queue, and is given up soon."""
    over = asyncio.Event()

    async def occupy(_: RawValue) -> bool:
        return await over.wait()

    own = tool("x", occupy, pickupTimeoutSeconds=1)
    replies = Replies([calls(("x", {}), ("x", {})), says("Done.")])
    queue = a_queue()
    async with asyncio.timeout(20), one_at_a_time(client, queue, replies, FakeTools([own])):
        run = await start(client, queue)
        await until_event(run, "tool_execution_failed")
        over.set()
        finished = await finish(run)

    assert reasons(finished, queue) == ["no executor took it in time"]


def one_at_a_time(client: Client, queue: str, replies: Replies, tools: FakeTools) -> Worker:
    """Give a worker of runs that has room for one activity."""
    turns = LlmTurns(lambda _turn, _attempt: replies, conversations=remembering(), intervals=BeatIntervals())
    return Worker(
        client,
        task_queue=queue,
        workflows=[Agent],
        activities=[turns.llm_turn, tools.list_tools, tools.run_tool],
        workflow_runner=workflow_sandbox(),
        max_concurrent_activities=1,
    )


async def test_a_worker_that_cannot_ask_leaves_the_reason_open(client: Client) -> None:
    queue = a_queue()
    remote = tool("x", answer, executorQueue=a_queue(), pickupTimeoutSeconds=1)
    replies = Replies([calls(("x", {})), says("Done.")])

    async with one_at_a_time(client, queue, replies, FakeTools([remote])):
        finished = await finish(await start(client, queue))

    assert reasons(finished, remote.definition.executor_queue or "") == ["no executor took it in time"]


async def test_a_run_that_is_cancelled_while_it_asks_is_cancelled(client: Client) -> None:
    over = asyncio.Event()

    async def occupy(_: RawValue) -> bool:
        return await over.wait()

    queue = a_queue()
    own = tool("x", occupy, pickupTimeoutSeconds=1)
    replies = Replies([calls(("x", {}), ("x", {})), says("Done.")])
    async with asyncio.timeout(20), one_at_a_time(client, queue, replies, FakeTools([own])):
        run = await start(client, queue)
        await until_history_holds(run, EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT)
        await run.cancel()
        over.set()
        with pytest.raises(WorkflowFailureError) as failed:
            await run.result(rpc_timeout=timedelta(seconds=10))

    assert isinstance(failed.value.cause, CancelledError)
