import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio import workflow
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.common import RawValue
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from surefoot.conversation import AssistantMessage
from surefoot.events import (
    Event,
    RunFinished,
    RunStarted,
    TurnStarted,
)
from surefoot.run import EVENTS_QUERY, WORKFLOW, EventsPage, RunResult
from surefoot.usage import Usage
from tests.workers.real_workers import new_queue
from tests.workers.watcher import Watcher, worker
from tests.workflows.agents import (
    Replies,
    answer,
    calls,
    says,
    serving,
    start,
    tool,
)
from workers.chain import beginning
from workers.following import told_so_far
from workers.ledger_reader import RunUnknownError

pytestmark = pytest.mark.slow

EVERY_TURN = {"max_events": 1}


def looking(turns: int) -> list[AssistantMessage | Exception]:
    return [*[calls(("look", {"n": n})) for n in range(1, turns)], says("Done.")]


def kinds(turns: int) -> list[str]:
    """The events of a run that looked once in each turn but the last."""
    look = ["tool_execution_scheduled", "tool_execution_started", "tool_execution_completed"]
    asked = ["turn_started", "model_replied"]
    return ["run_started", *[*asked, *look] * (turns - 1), *asked, "run_finished"]


def turns_told(events: Sequence[Event]) -> list[int]:
    return [event.turn for event in events if isinstance(event, TurnStarted)]


async def runs_of(run: WorkflowHandle[Any, Any], client: Client) -> list[str]:
    """The run ids of a chain, the newest first."""
    found = [(await run.describe()).run_id or ""]
    while (begun := await beginning(client, run.id, found[-1])) and begun.continued_execution_run_id:
        found.append(begun.continued_execution_run_id)
    return found


async def test_a_chain_is_one_run_to_whoever_follows_it(client: Client) -> None:
    slow = tool("look", _slow)
    async with asyncio.timeout(40):
        async with serving(client, Replies(looking(4)), [slow]) as queue:
            run = await start(client, queue, chain=EVERY_TURN)
            live = [Watcher(client, run.id) for _ in range(2)]
            await live[0].until_told("tool_execution_completed")
            joining = Watcher(client, run.id)
            await asyncio.gather(*(watcher.end() for watcher in [*live, joining]))
            late = Watcher(client, run.id)
            await late.end()
        unserved = Watcher(client, run.id)
        await unserved.end()

    assert len(await runs_of(run, client)) == 4
    assert [event.type for event in unserved.events] == kinds(4)
    assert turns_told(unserved.events) == [1, 2, 3, 4]
    assert [watcher.events for watcher in [*live, joining, late]] == [unserved.events] * 4
    seen = {snapshot.status for watcher in live for snapshot in watcher.snapshots}
    assert WorkflowExecutionStatus.CONTINUED_AS_NEW not in seen


async def _slow(_: RawValue) -> JsonValue:
    await asyncio.sleep(0.2)
    return "looked"


@pytest.mark.long
async def test_what_happened_so_far_is_told_with_no_worker_and_the_rest_by_the_next_one(
    client: Client,
) -> None:
    queue, elsewhere, model = new_queue(), new_queue(), Replies(looking(4))
    may_answer = asyncio.Event()

    async def look(_: RawValue) -> JsonValue:
        if len(model.asked) == 3:
            await may_answer.wait()
        return "looked"

    remote = tool("look", look, executorQueue=elsewhere)
    async with asyncio.timeout(40), worker(client, elsewhere, model, [remote]):
        async with worker(client, queue, model, [remote]):
            run = await start(client, queue, chain=EVERY_TURN)
            while len(model.asked) < 3:  # noqa: ASYNC110  told by the worker
                await asyncio.sleep(0.01)
            at_work = Watcher(client, run.id)
            await at_work.until(served=True)
        watcher = Watcher(client, run.id)
        await watcher.until(served=False)
        so_far = list(watcher.events)
        may_answer.set()
        await _until_called(run)
        in_between = [seen async for seen in told_so_far(client, run.id, patience=timedelta(seconds=1))]
        async with worker(client, queue, model, [remote]):
            await asyncio.gather(watcher.end(), at_work.end())

    assert turns_told(so_far) == [1, 2, 3]
    assert [event.type for event in watcher.events] == kinds(4)
    assert in_between[:-1] == so_far
    assert [_timeless(event) for event in at_work.events] == [_timeless(event) for event in watcher.events]


def _timeless(event: Event) -> dict[str, Any]:
    # A worker that is asked before its first task of a run answers from what no task has worked on yet, at
    # the time of the last one.
    return event.model_dump(exclude={"time"})


async def _until_called(run: WorkflowHandle[Any, Any]) -> None:
    """Wait until the newest run holds the ending of a model's turn and of a tool's call."""
    completed = EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED
    while [e.event_type for e in (await run.fetch_history()).events].count(completed) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


@pytest.mark.long
async def test_runs_that_the_server_has_deleted_are_all_that_is_missed(client: Client) -> None:
    async with asyncio.timeout(40):
        async with serving(client, Replies(looking(4)), [tool("look", answer)]) as queue:
            run = await start(client, queue, chain=EVERY_TURN)
            await run.result()
            *_, second, first = await runs_of(run, client)
            for run_id in (first, second):
                await client.workflow_service.delete_workflow_execution(
                    DeleteWorkflowExecutionRequest(
                        namespace=client.namespace,
                        workflow_execution=WorkflowExecution(workflow_id=run.id, run_id=run_id),
                    )
                )
            while await beginning(client, run.id, first) or await beginning(client, run.id, second):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            watcher = Watcher(client, run.id)
            await watcher.end()

    assert turns_told(watcher.events) == [3, 4]
    assert [event.type for event in watcher.events] == kinds(2)[1:]


@workflow.defn(name=WORKFLOW)
class OtherRelease:
    """A chain of two runs with ledgers as ours, and with code whose histories ours cannot replay."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._first = 0

    @workflow.run
    async def run(self, first: int) -> RunResult:
        self._first = first
        info, now, usage = workflow.info(), workflow.now(), Usage()
        if not first:
            self._events.append(RunStarted(time=now, workflow_id=info.workflow_id, run_id=info.run_id))
        self._events.append(TurnStarted(time=now, turn=first + 1))
        await workflow.sleep(timedelta(milliseconds=1))
        if not first:
            workflow.continue_as_new(2)
        self._events.append(RunFinished(time=now, status="completed", answer="Done.", usage=usage))
        return RunResult(
            status="completed",
            answer="Done.",
            turns=2,
            tool_executions=0,
            failed_tool_executions=0,
            usage=usage,
        )

    @workflow.query(name=EVENTS_QUERY)
    def events(self, offset: int) -> EventsPage:
        # A page for each event.
        at = offset - self._first
        events = tuple(self._events[at : at + 1]) if at >= 0 else ()
        end = offset + len(events)
        return EventsPage(
            events=events,
            next_offset=end,
            more=at >= 0 and end < self._first + len(self._events),
            first_offset=self._first,
            continued_from=workflow.info().continued_run_id,
        )


async def test_a_run_of_another_release_is_told_by_its_own_workers_alone(client: Client) -> None:
    queue = new_queue()
    serving_other = Worker(
        client, task_queue=queue, workflows=[OtherRelease], workflow_runner=UnsandboxedWorkflowRunner()
    )
    async with asyncio.timeout(40):
        async with serving_other:
            run = await client.start_workflow(WORKFLOW, 0, id=f"run-{secrets.token_hex(4)}", task_queue=queue)
            await run.result()
            watcher = Watcher(client, run.id)
            await watcher.end()
        unserved = Watcher(client, run.id)
        finished = await unserved.end()

    assert [event.type for event in watcher.events] == [
        "run_started",
        "turn_started",
        "turn_started",
        "run_finished",
    ]
    assert (unserved.events, finished.answer) == ([finished], "Done.")
    (snapshot,) = unserved.snapshots
    assert snapshot.unreadable == (
        "what happened cannot be told from the history: another release of Surefoot wrote it, and only a "
        "worker of that release can read it"
    )


@pytest.mark.long
async def test_a_run_is_not_taken_for_the_next_one_with_its_id(client: Client) -> None:
    queue = new_queue()
    async with asyncio.timeout(40):
        run = await start(client, queue)
        watcher = Watcher(client, run.id)
        await watcher.until(served=False)
        await run.terminate(reason="by mistake")
        other = await client.start_workflow(
            WORKFLOW, {"prompt": "Again.", "model": "replies"}, id=run.id, task_queue=queue
        )
        finished = await watcher.end()
        await other.terminate()

    assert (watcher.events, finished.error) == ([finished], "the run was terminated: by mistake")


async def test_a_workflow_of_somebody_else_is_no_run(client: Client) -> None:
    other = await client.start_workflow("theirs", id=f"run-{secrets.token_hex(4)}", task_queue=new_queue())
    sentence = f"^'{other.id}' is no run of Surefoot, but a workflow of the type 'theirs'$"

    async with asyncio.timeout(20):
        with pytest.raises(RunUnknownError, match=sentence):
            await Watcher(client, other.id).end()
    await other.terminate()
