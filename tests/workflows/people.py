"""People who are told of runs, and a worker that tells them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.conversation_cache import ConversationCache
from activities.heartbeats import BeatIntervals
from activities.interface import NOTIFY_PEOPLE
from activities.llm_turn import LlmTurns
from activities.model import Model
from surefoot.notice import Notice
from surefoot.run import APPROVE_UPDATE, Approve
from tests.workers.real_workers import new_queue
from tests.workflows.agents import FakeTools, answer, events_of, remembering, tool, until_event
from tests.workflows.operators import update
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent

EVERYTHING = ("approval", "waiting", "ended")


class People:
    """Who is told; at first they cannot be, as often as `busy` says."""

    def __init__(self, *, busy: int = 0) -> None:
        self.told: list[Notice] = []
        self.busy = busy

    @activity.defn(name=NOTIFY_PEOPLE)
    async def notify_people(self, notice: Notice) -> None:
        if self.busy:
            self.busy -= 1
            raise ApplicationError("the line is busy", non_retryable=True)
        self.told.append(notice)


class Slow(People):
    """Who takes a while to be told."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    @activity.defn(name=NOTIFY_PEOPLE)
    async def notify_people(self, notice: Notice) -> None:
        self.asked.set()
        await self.go_on.wait()
        self.told.append(notice)


@asynccontextmanager
async def telling(
    client: Client, model: Model, people: People, *, queue: str | None = None
) -> AsyncGenerator[str]:
    """Serve an agent whose tool `look` needs approval, on a queue of its own if none is named; gives it."""
    queue, kept = queue or new_queue(), remembering(ConversationCache())
    turns = LlmTurns(lambda _turn, _attempt: model, conversations=kept, intervals=BeatIntervals())
    fakes = FakeTools([tool("look", answer, approval="always")])
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Agent],
        activities=[turns.llm_turn, fakes.list_tools, fakes.run_tool, people.notify_people],
        workflow_runner=workflow_sandbox(),
    ):
        yield queue


async def approve_first(run: WorkflowHandle[Any, Any]) -> None:
    """Approve the first call of the run once it waits for that."""
    await until_event(run, "approval_requested")
    (asked,) = [event for event in await events_of(run) if event.type == "approval_requested"]
    await update(run, APPROVE_UPDATE, Approve(tool_exec_id="1-1", params_sha256=asked.params_sha256))
