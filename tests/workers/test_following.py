import asyncio
import secrets
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RawValue

from activities.model import ModelRefusedError
from surefoot.run import EVENTS_QUERY, EventsPage
from surefoot.usage import Usage
from tests.workers.real_workers import new_queue
from tests.workers.watcher import Watcher, worker
from tests.workflows.agents import (
    Replies,
    answer,
    calls,
    events_of,
    never,
    says,
    serving,
    start,
    tool,
    until_event,
)
from workers.following import follow
from workers.ledger_reader import RunUnknownError

pytestmark = pytest.mark.slow


async def test_every_event_is_told_once_and_in_order_however_fast_they_come(client: Client) -> None:
    async def tell(_: RawValue) -> str:
        return "x" * 100_000

    many: list[tuple[str, JsonValue]] = [("look", {}), ("tell", {})]
    model = Replies([calls(*many * 20), calls(*many), says("Done.")])
    async with (
        asyncio.timeout(30),
        serving(client, model, [tool("look", answer), tool("tell", tell)]) as queue,
    ):
        run = await start(client, queue)
        watchers = [Watcher(client, run.id) for _ in range(3)]
        await asyncio.gather(*(watcher.end() for watcher in watchers))
        late = Watcher(client, run.id)
        await late.end()
        ledger = list(await events_of(run))

    assert len(ledger) == 2 + 3 * 2 + 42 * 3
    assert [watcher.events for watcher in [*watchers, late]] == [ledger] * 4


async def test_a_worker_that_goes_away_and_comes_back_is_missed_and_nothing_else(client: Client) -> None:
    queue, model = new_queue(), Replies([calls(("ask", {})), says("Done.")])
    elsewhere = new_queue()
    may_answer = asyncio.Event()

    async def ask(_: RawValue) -> JsonValue:
        await may_answer.wait()
        return 1

    remote = tool("ask", ask, executorQueue=elsewhere)
    async with asyncio.timeout(40), worker(client, elsewhere, model, [remote]):
        async with worker(client, queue, model, [remote]):
            run = await start(client, queue)
            watcher = Watcher(client, run.id)
            await until_event(run, "tool_execution_scheduled")
            await watcher.until(served=True)
        await watcher.until(served=False)
        may_answer.set()
        async with worker(client, queue, model, [remote]):
            finished = await watcher.end()
            ledger = list(await events_of(run))

    assert finished.answer == "Done."
    assert watcher.events == ledger


async def test_a_run_that_is_terminated_while_a_worker_serves_it_has_failed(client: Client) -> None:
    model = Replies([calls(("x", {}))])
    async with asyncio.timeout(20), serving(client, model, [tool("x", never)]) as queue:
        run = await start(client, queue)
        watcher = Watcher(client, run.id)
        await until_event(run, "tool_execution_scheduled")
        await run.terminate(reason="by mistake")
        finished = await watcher.end()

    assert [event.type for event in watcher.events[-2:]] == ["tool_execution_scheduled", "run_finished"]
    assert (finished.status, finished.error) == ("failed", "the run was terminated: by mistake")


async def test_a_run_that_nobody_serves_is_cancelled_once_somebody_does(client: Client) -> None:
    queue, model = new_queue(), Replies([])
    async with asyncio.timeout(40):
        run = await start(client, queue)
        watcher = Watcher(client, run.id)
        await run.cancel()
        await watcher.until(served=False)
        async with worker(client, queue, model, []):
            finished = await watcher.end()

    assert finished.status == "cancelled"


async def test_how_a_run_ended_is_told_even_if_no_worker_is_left_to_ask(client: Client) -> None:
    queue = new_queue()
    model = Replies([says("Done."), ModelRefusedError("401: no such key")])
    async with asyncio.timeout(40):
        async with worker(client, queue, model, []):
            answered, failed = [await _ended(await start(client, queue)) for _ in range(2)]
            cancelled = await start(client, queue)
            await cancelled.cancel()
            await _ended(cancelled)
        terminated = await start(client, new_queue())
        await terminated.terminate(reason="by mistake")
        closed = datetime.now(UTC)
        watchers = [Watcher(client, run.id) for run in (answered, failed, cancelled, terminated)]
        ends = [await watcher.end() for watcher in watchers]

    told = [end.model_dump(exclude={"time", "usage"}, exclude_none=True) for end in ends]
    run_finished = {"type": "run_finished"}
    assert told == [
        {**run_finished, "status": "completed", "answer": "Done."},
        {**run_finished, "status": "failed", "error": "401: no such key"},
        {**run_finished, "status": "cancelled"},
        {**run_finished, "status": "failed", "error": "the run was terminated: by mistake"},
    ]
    assert ends[0].usage == Usage(requests=1, input_tokens=10, output_tokens=2)
    assert all(end.time <= closed for end in ends)


async def _ended(run: WorkflowHandle[Any, Any]) -> WorkflowHandle[Any, Any]:
    last = ""
    while last != "run_finished":
        last = (await events_of(run))[-1].type
    return run


async def test_a_run_that_the_server_does_not_know_is_said_to_be_unknown(client: Client) -> None:
    nothing = f"no-{secrets.token_hex(4)}"

    async with asyncio.timeout(20):
        with pytest.raises(RunUnknownError, match=f"^there is no run '{nothing}'$"):
            await anext(aiter(follow(client, nothing)))


async def test_watching_adds_nothing_to_the_history(client: Client) -> None:
    model = Replies([calls(("x", {}))])
    async with asyncio.timeout(20), serving(client, model, [tool("x", never)]) as queue:
        run = await start(client, queue)
        await until_event(run, "tool_execution_scheduled")
        before = (await run.describe()).history_length
        for _ in range(50):
            await run.query(EVENTS_QUERY, 0, result_type=EventsPage)
        watcher = Watcher(client, run.id)
        await watcher.until(served=True)
        after = (await run.describe()).history_length
        await run.terminate()
        await watcher.end()

    assert after == before
