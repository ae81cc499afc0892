import asyncio

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowHistory

from tests.workers.real_workers import new_queue
from tests.workflows.agents import Replies, answer, calls, events_of, never, says, serving, start, tool
from workers.rebuilt_ledger import RebuiltLedger, rebuild_ledger
from workflows.converter import DATA_CONVERTER

CALLS_AT_ONCE = 32


@pytest.mark.parametrize(
    "chain", [pytest.param({}, id="one run"), pytest.param({"max_events": 1}, id="the last run of a chain")]
)
async def test_an_open_run_is_told_as_its_worker_tells_it(client: Client, chain: dict[str, int]) -> None:
    # More calls than run at once: some wait in the workflow, and all of them when it is let go of.
    hanging: list[tuple[str, JsonValue]] = [("hang", {})] * (CALLS_AT_ONCE + 8)
    model = Replies([calls(("look", {})), calls(*hanging)])
    tools = [tool("look", answer), tool("hang", never)]
    async with asyncio.timeout(30), serving(client, model, tools) as queue:
        run = await start(client, queue, chain=chain)
        told = await events_of(run)
        while [event.type for event in told].count("tool_execution_scheduled") < CALLS_AT_ONCE:
            told = await events_of(run)
        rebuilt = await rebuild_ledger(await run.fetch_history(), DATA_CONVERTER)
        await run.terminate()

    assert rebuilt is not None
    assert (rebuilt.first_offset > 0) == bool(chain)
    assert rebuilt.events == told


async def test_a_closed_run_is_told_to_its_end(client: Client) -> None:
    model = Replies([calls(("look", {})), says("Done.")])
    async with asyncio.timeout(20), serving(client, model, [tool("look", answer)]) as queue:
        run = await start(client, queue)
        await run.result()
        told = await events_of(run)

    assert await rebuild_ledger(await run.fetch_history(), DATA_CONVERTER) == RebuiltLedger(0, told)


async def test_a_run_that_no_worker_has_begun_has_no_ledger_yet(client: Client) -> None:
    run = await start(client, new_queue())
    history = await run.fetch_history()
    await run.terminate()

    assert await rebuild_ledger(history, DATA_CONVERTER) is None
    assert await rebuild_ledger(WorkflowHistory(run.id, []), DATA_CONVERTER) is None
