"""Somebody who follows a run, and a worker that may come and go."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from activities.heartbeats import BeatIntervals
from activities.llm_turn import LlmTurns
from surefoot.events import Event, RunFinished
from tests.workflows.agents import FakeTool, FakeTools, Replies, remembering
from workers.following import follow
from workers.sandbox import workflow_sandbox
from workers.snapshot import Snapshot
from workflows.agent import Agent


def worker(client: Client, queue: str, model: Replies, tools: Sequence[FakeTool]) -> Worker:
    """Give a worker whose death is noticed within a second."""
    kept = remembering()
    turns = LlmTurns(lambda _turn, _attempt: model, conversations=kept, intervals=BeatIntervals())
    fakes = FakeTools(tools)
    return Worker(
        client,
        task_queue=queue,
        workflows=[Agent],
        activities=[turns.llm_turn, kept.keep_conversation, fakes.list_tools, fakes.run_tool],
        workflow_runner=workflow_sandbox(),
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )


class Watcher:
    """Follows a run from its beginning, and keeps all that it is told."""

    def __init__(self, client: Client, workflow_id: str) -> None:
        self.events: list[Event] = []
        self.snapshots: list[Snapshot] = []
        self._watching = asyncio.create_task(self._watch(client, workflow_id))

    async def end(self) -> RunFinished:
        """Wait for the last thing that is told."""
        await self._watching
        last = self.events[-1]
        assert isinstance(last, RunFinished)
        return last

    async def until(self, *, served: bool) -> None:
        """Wait for a look at the run that found it served, or not."""
        while not (self.snapshots and self.snapshots[-1].served is served):  # noqa: ASYNC110  told by another
            await asyncio.sleep(0.01)

    async def until_told(self, kind: str) -> None:
        """Wait for an event of this type."""
        while kind not in {event.type for event in self.events}:  # noqa: ASYNC110  told by another
            await asyncio.sleep(0.01)

    async def _watch(self, client: Client, workflow_id: str) -> None:
        async for seen in follow(client, workflow_id, patience=timedelta(seconds=1)):
            if isinstance(seen, Snapshot):
                self.snapshots.append(seen)
            else:
                self.events.append(seen)
