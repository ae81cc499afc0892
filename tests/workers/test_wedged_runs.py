import asyncio
from collections.abc import Callable
from pathlib import Path

from temporalio.client import Client

from tests.workers.real_workers import new_queue, working
from tests.workers.wedging import BROKEN, changed, raising
from tests.workflows.agents import Silent, start, until_event
from workers.wedged_runs import RunsLookedAt, WedgedRun, find_wedged_runs


async def until_found(client: Client, claim: Callable[[RunsLookedAt], bool]) -> RunsLookedAt:
    """Look until the listing, which is a little late, bears it out."""
    async with asyncio.timeout(20):
        while not claim(looked := await find_wedged_runs(client)):  # noqa: ASYNC110  the listing is late
            await asyncio.sleep(0.1)
    return looked


def of_run(looked: RunsLookedAt, workflow_id: str) -> list[WedgedRun]:
    return [one for one in looked.wedged if one.workflow_id == workflow_id]


async def test_a_run_whose_code_raises_at_every_try_is_found_with_its_reason(client: Client) -> None:
    async with raising(client) as run:
        looked = await until_found(client, lambda looked: bool(of_run(looked, run.id)))

    (found,) = of_run(looked, run.id)
    assert (found.run_id, found.reason) == (run.first_execution_run_id, BROKEN)
    assert found.attempts >= 2


async def test_a_run_that_other_code_began_is_found_as_one_that_waits_for_a_fix(
    client: Client, tmp_path: Path
) -> None:
    async with changed(client, tmp_path) as run:
        looked = await until_found(client, lambda looked: bool(of_run(looked, run.id)))

    (found,) = of_run(looked, run.id)
    assert "Nondeterminism" in found.reason


async def test_runs_that_go_on_or_wait_for_a_worker_are_not_wedged(client: Client, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()

    async with working(client, tmp_path, Silent(), graceful_shutdown_timeout=0) as queue:
        thinking = await start(client, queue)
        waiting = await start(client, new_queue())
        await until_event(thinking, "turn_started")
        looked = await until_found(client, lambda looked: looked.looked_at >= 2)
        await thinking.terminate()
        await waiting.terminate()

    assert of_run(looked, thinking.id) + of_run(looked, waiting.id) == []


async def test_more_open_runs_than_the_limit_are_said_to_be_left_out(client: Client) -> None:
    runs = [await start(client, new_queue()) for _ in range(3)]
    await until_found(client, lambda looked: looked.looked_at >= len(runs))

    looked = await find_wedged_runs(client, limit=2)
    for run in runs:
        await run.terminate()

    assert (looked.looked_at, looked.more) == (2, True)
