"""Schedules that start runs: Temporal's own, which the server keeps whether or not a worker is up."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Literal

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    SchedulePolicy,
)
from temporalio.common import TypedSearchAttributes
from temporalio.service import RPCError, RPCStatusCode

from surefoot.run import WORKFLOW, RunInput
from surefoot.static_details import static_details
from surefoot.summary import shorten_shown
from workers.schedule_times import Times, spec_of, words_of
from workers.search_attributes import settable_search_attributes
from workflows.attributes import first_attributes

Overlap = Literal["skip", "wait", "cancel", "allow"]
"""What becomes of a start whose run before it goes on: none, after it, in its place, or side by side."""

POLICIES: Mapping[Overlap, ScheduleOverlapPolicy] = MappingProxyType(
    {
        "skip": ScheduleOverlapPolicy.SKIP,
        "wait": ScheduleOverlapPolicy.BUFFER_ONE,
        "cancel": ScheduleOverlapPolicy.CANCEL_OTHER,
        "allow": ScheduleOverlapPolicy.ALLOW_ALL,
    }
)
WHEN, PROMPT = "when", "prompt"
"""What the memo of a schedule tells for lists, which have no more of it."""


class ScheduleRefusedError(RuntimeError):
    """One sentence on a schedule that there is not, that there is already, or that the server refuses."""


@dataclass(frozen=True)
class NewSchedule:
    """A schedule that is to be created."""

    schedule_id: str
    times: Times
    run: RunInput
    queue: str
    overlap: Overlap
    catch_up: timedelta
    """How late a run may start that no server was up for."""
    jitter: timedelta | None = None


async def create_schedule(client: Client, new: NewSchedule) -> None:
    """Have the server start runs from now on; their ids are the schedule's and the time.

    Raises:
        ScheduleRefusedError: there is one with the id, or the server says what it does not take.
        RPCError: the server did not answer.
    """
    found = await settable_search_attributes(client)
    run = new.run.model_copy(update=found.of_a_run())
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(
            WORKFLOW,
            run,
            id=new.schedule_id,
            task_queue=new.queue,
            static_summary=shorten_shown(run.prompt),
            static_details=static_details(run),
            typed_search_attributes=first_attributes(run.agent_name)
            if found.usual
            else TypedSearchAttributes([]),
        ),
        spec=spec_of(new.times, jitter=new.jitter),
        policy=SchedulePolicy(overlap=POLICIES[new.overlap], catchup_window=new.catch_up),
    )
    memo = {WHEN: words_of(new.times), PROMPT: shorten_shown(run.prompt)}
    try:
        await client.create_schedule(new.schedule_id, schedule, memo=memo)
    except ScheduleAlreadyRunningError:
        raise ScheduleRefusedError(f"there is a schedule '{new.schedule_id}' already") from None
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise
        reason = f"the server refuses the schedule '{new.schedule_id}': {error.message}"
        raise ScheduleRefusedError(reason) from None


@asynccontextmanager
async def schedule(client: Client, schedule_id: str) -> AsyncGenerator[ScheduleHandle]:
    """Give what pauses, resumes, triggers and deletes a schedule that starts runs of agents.

    Raises:
        ScheduleRefusedError: there is no such schedule.
        RPCError: the server did not answer.
    """
    handle = client.get_schedule_handle(schedule_id)
    try:
        start_of(await handle.describe())
        yield handle
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        raise ScheduleRefusedError(f"there is no schedule '{schedule_id}'") from None


def start_of(described: ScheduleDescription) -> ScheduleActionStartWorkflow:
    """Give what a schedule does; raises ScheduleRefusedError if that is not to start runs of agents."""
    action = described.schedule.action
    if not isinstance(action, ScheduleActionStartWorkflow) or action.workflow != WORKFLOW:
        raise ScheduleRefusedError(f"the schedule '{described.id}' starts no runs of agents")
    return action
