import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from tests.workers.real_workers import new_queue, worker_of, working
from tests.workers.versions import make_current, of_worker
from tests.workflows.agents import Silent, start, until_event
from workers.queues_in_use import QueueInUse, queues_in_use


async def looked_at(client: Client, queue: str, claim: Callable[[QueueInUse], bool]) -> QueueInUse:
    """Look at one queue until the listing, which is a little late, bears it out."""
    while True:
        runs = [
            run
            async for run in client.list_workflows("ExecutionStatus = 'Running'")
            if run.task_queue == queue
        ]
        (found,) = await queues_in_use(client, runs, queue, now=datetime.now(UTC))
        if claim(found):
            return found
        await asyncio.sleep(0.1)


async def test_a_queue_has_its_open_runs_and_whoever_serves_it(client: Client, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    async with asyncio.timeout(20), working(client, tmp_path, Silent(), graceful_shutdown_timeout=0) as queue:
        run = await start(client, queue)
        await until_event(run, "turn_started")
        found = await looked_at(client, queue, lambda found: found.runs == 1)
        await run.terminate()

    assert found == QueueInUse(queue, runs=1, workers=1, versions=(), unserved=())


async def test_a_queue_that_nobody_serves_has_no_workers(client: Client) -> None:
    queue = new_queue()
    run = await start(client, queue)
    async with asyncio.timeout(20):
        found = await looked_at(client, queue, lambda found: found.runs == 1)
    await run.terminate()

    assert found == QueueInUse(queue, runs=1, workers=0, versions=(), unserved=())


async def test_whoever_asked_long_ago_serves_no_more(client: Client, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    async with working(client, tmp_path, Silent()) as queue:
        later = datetime.now(UTC) + timedelta(minutes=2)
        (found,) = await queues_in_use(client, [], queue, now=later)

    assert found.workers == 0


@pytest.mark.slow
async def test_runs_that_stay_with_a_version_which_no_worker_has_are_counted(
    client: Client, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    queue = deployment = new_queue()

    def version(build_id: str, own: Client) -> Worker:
        return worker_of(
            own, tmp_path, Silent(), queue=queue, deployment=deployment, build_id=build_id,
            graceful_shutdown_timeout=0,
        )  # fmt: skip

    async with asyncio.timeout(60):
        async with version("1", await of_worker(client, "one")):
            await make_current(client, deployment, "1")
            run = await start(client, queue)
            await until_event(run, "turn_started")
            served = await looked_at(client, queue, lambda found: found.versions == (f"{deployment}:1",))
        async with version("2", await of_worker(client, "two")):
            left = await looked_at(client, queue, lambda found: len(found.versions) == 2)
            # The server remembers who asked for five minutes, and so does the first look.
            (gone,) = await queues_in_use(
                client,
                [one async for one in client.list_workflows(f"WorkflowId = '{run.id}'")],
                queue,
                now=datetime.now(UTC) + timedelta(minutes=2),
            )
        await run.terminate()

    assert served.unserved == ()
    assert left.unserved == ()
    assert gone.unserved == ((f"{deployment}:1", 1),)
