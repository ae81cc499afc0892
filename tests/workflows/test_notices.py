"""What people are told of a run, and that telling them never changes it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.conversation_cache import ConversationCache
from activities.heartbeats import BeatIntervals
from activities.interface import NOTIFY_PEOPLE
from activities.llm_turn import LlmTurns
from activities.model import Model, ModelRefusedError
from surefoot.notice import Notice
from surefoot.run import APPROVE_UPDATE, RESUME_UPDATE, Approve, Resume
from tests.workers.real_workers import new_queue
from tests.workflows.agents import (
    FakeTools,
    Replies,
    Silent,
    answer,
    calls,
    events_of,
    remembering,
    says,
    start,
    tool,
    until_event,
)
from tests.workflows.operators import update
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent

EVERYTHING = ("approval", "waiting", "ended")


class People:
    """Who is told; the first times they cannot be reached, as often as `busy` says."""

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
async def serving_with(client: Client, model: Model, people: People) -> AsyncGenerator[str]:
    queue, kept = new_queue(), remembering(ConversationCache())
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


def two_looks() -> Replies:
    return Replies([calls(("look", {})), says("Done. The key is sk-ant-0123456789abcdef0123.")])


async def approve(run: WorkflowHandle[Any, Any]) -> None:
    await until_event(run, "approval_requested")
    (asked,) = [event for event in await events_of(run) if event.type == "approval_requested"]
    await update(run, APPROVE_UPDATE, Approve(tool_exec_id="1-1", params_sha256=asked.params_sha256))


async def test_people_are_told_of_an_approval_and_of_the_end(client: Client) -> None:
    people = People()
    async with serving_with(client, two_looks(), people) as queue:
        run = await start(client, queue, notify=EVERYTHING, agent_name="looker")
        await approve(run)
        await run.result()

    first = f"{run.id}/{run.first_execution_run_id}"
    waits = {"workflow_id": run.id, "run_id": run.first_execution_run_id, "agent": "looker", "ui_url": None}
    assert sorted((notice.model_dump() for notice in people.told), key=lambda told: told["id"]) == [
        {
            **waits,
            "id": f"{first}/1",
            "what": "approval",
            "status": "waiting",
            "text": "look needs approval (every call of the tool does)",
            "tool_exec_id": "1-1",
        },
        {
            **waits,
            "id": f"{first}/2",
            "what": "ended",
            "status": "completed",
            "text": "Done. The key is [redacted].",
            "tool_exec_id": None,
        },
    ]


async def test_people_are_told_that_a_run_waits_for_its_model(client: Client) -> None:
    people = People()
    model = Replies([ModelRefusedError("401: the key has expired"), says("Done.")])
    async with serving_with(client, model, people) as queue:
        run = await start(client, queue, notify=("waiting",), on_model_failure="wait")
        await until_event(run, "model_unavailable")
        await update(run, RESUME_UPDATE, Resume())
        await run.result()

    assert [(notice.what, notice.text) for notice in people.told] == [("waiting", "401: the key has expired")]


@pytest.mark.parametrize(
    ("model", "status"),
    [
        pytest.param(Replies([says("Done.")]), "completed", id="it completes"),
        pytest.param(Replies([ModelRefusedError("401")]), "failed", id="it fails"),
        pytest.param(Silent(), "cancelled", id="it is cancelled"),
    ],
)
async def test_people_are_told_of_every_end(client: Client, model: Model, status: str) -> None:
    people = People()
    async with serving_with(client, model, people) as queue:
        run = await start(client, queue, notify=("ended",))
        if status == "cancelled":
            await until_event(run, "turn_started")
            await run.cancel()
        with suppress(WorkflowFailureError):
            await run.result()
        description = await run.describe()

    assert [notice.status for notice in people.told] == [status]
    assert description.status is not None
    assert description.status.name == {"cancelled": "CANCELED"}.get(status, status.upper())


async def test_a_run_ends_as_it_did_when_nobody_can_be_told(client: Client) -> None:
    people = People(busy=9)
    async with serving_with(client, Replies([says("Done.")]), people) as queue:
        result = await (await start(client, queue, notify=EVERYTHING)).result()

    assert (result.answer, people.told) == ("Done.", [])


async def test_a_run_that_is_cancelled_while_people_are_told_of_its_end_has_ended(client: Client) -> None:
    people = Slow()
    async with serving_with(client, Replies([says("Done.")]), people) as queue:
        run = await start(client, queue, notify=("ended",))
        await people.asked.wait()
        await run.cancel()
        people.go_on.set()
        result = await run.result()

    assert (result.answer, [notice.status for notice in people.told]) == ("Done.", ["completed"])


async def test_nobody_is_told_of_what_was_not_asked_for(client: Client) -> None:
    people = People()
    async with serving_with(client, Replies([says("Done.")]), people) as queue:
        await (await start(client, queue, notify=("approval",))).result()

    assert people.told == []
