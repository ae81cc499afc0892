"""Workflows of a test's own under the product's name, which cannot go on."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from surefoot.run import WORKFLOW
from tests.workers.real_workers import new_queue, worker_of
from tests.workflows.agents import Replies

BROKEN = "the cable is cut"


class OfNoFamily(Exception):  # noqa: N818  what a developer may call one
    """What no workflow of ours ends with."""


@workflow.defn(name=WORKFLOW)
class Raising:
    """Raises what the SDK takes for a bug to be fixed."""

    @workflow.run
    async def run(self) -> None:
        raise OfNoFamily(BROKEN)


@workflow.defn(name=WORKFLOW)
class Waiting:
    """Waits for a timer, as no release of ours began."""

    @workflow.run
    async def run(self) -> None:
        await workflow.sleep(timedelta(milliseconds=500))


@asynccontextmanager
async def raising(client: Client) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Have a run whose code raises at every try."""
    async with _serving(client, Raising) as run:
        await until_tried(run, 2)
        yield run
        await run.terminate()


@asynccontextmanager
async def changed(client: Client, directory: Path) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Have a run that other code began than the one that now goes on with it."""
    async with _serving(client, Waiting) as run:
        while len((await run.fetch_history()).events) < 5:  # noqa: ASYNC110  another process
            await asyncio.sleep(0.02)
    (directory / "tools").mkdir(exist_ok=True)
    queue = (await run.describe()).task_queue
    async with worker_of(client, directory, Replies([]), queue=queue):
        await until_tried(run, 2)
        yield run
        await run.terminate()


async def until_tried(run: WorkflowHandle[Any, Any], attempts: int) -> None:
    """Wait until the run's workflow task is at this attempt."""
    async with asyncio.timeout(20):
        while (await run.describe()).raw_description.pending_workflow_task.attempt < attempts:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


@asynccontextmanager
async def _serving(
    client: Client, definition: type[Raising] | type[Waiting]
) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    queue = new_queue()
    async with Worker(
        client, task_queue=queue, workflows=[definition], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        yield await client.start_workflow(WORKFLOW, id=f"wedged-{secrets.token_hex(4)}", task_queue=queue)
