"""Schedules as the server lists and describes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from temporalio.api.common.v1 import Payload
from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionResult,
    ScheduleDescription,
    ScheduleListActionStartWorkflow,
    ScheduleListDescription,
)

from surefoot.run import WORKFLOW, RunInput
from workers.encryption.failures import ENCRYPTED
from workers.schedules import POLICIES, PROMPT, WHEN, schedule, start_of
from workflows.payloads import UnreadableError

_SERVERS_CATCH_UP = timedelta(days=365)


@dataclass(frozen=True)
class ListedSchedule:
    """A schedule in a list."""

    schedule_id: str
    when: str
    paused: bool
    note: str | None
    """Why it was paused, or resumed."""
    next_at: datetime | None
    last_run: str | None
    """The workflow id of the run that it started last."""
    prompt: str
    """The first words."""


@dataclass(frozen=True)
class StartedRun:
    """A run that a schedule has started."""

    workflow_id: str
    started_at: datetime


@dataclass(frozen=True)
class ShownSchedule:
    """A schedule, and what it has done."""

    schedule_id: str
    when: str
    paused: bool
    note: str | None
    next_at: tuple[datetime, ...]
    run: RunInput
    queue: str
    overlap: str
    catch_up: timedelta
    jitter: timedelta | None
    started: int
    """How many runs it has started; the other numbers are of starts that came to nothing."""
    skipped: int
    """For the run before had not ended."""
    missed: int
    """For no server was up."""
    recent: tuple[StartedRun, ...]
    """The newest first, at most ten."""


async def list_schedules(client: Client) -> tuple[ListedSchedule, ...]:
    """Give the schedules of the namespace that start runs of agents, by id; raises RPCError."""
    found = [entry async for entry in await client.list_schedules() if _starts_runs(entry)]
    listed = [_listed(entry, await _memo(entry)) for entry in found]
    return tuple(sorted(listed, key=lambda one: one.schedule_id))


async def show_schedule(client: Client, schedule_id: str) -> ShownSchedule:
    """Give one schedule; raises as `schedule` does."""
    async with schedule(client, schedule_id) as handle:
        described = await handle.describe()
    arguments = [one for one in start_of(described).args if isinstance(one, Payload)]
    (run,) = await client.data_converter.decode(arguments, [RunInput])
    return _shown(described, run, await described.memo())


async def _memo(entry: ScheduleListDescription) -> Mapping[str, Any]:
    try:
        return await entry.memo()
    except UnreadableError:
        return {WHEN: ENCRYPTED, PROMPT: ENCRYPTED}


def _starts_runs(entry: ScheduleListDescription) -> bool:
    action = entry.schedule.action if entry.schedule is not None else None
    return isinstance(action, ScheduleListActionStartWorkflow) and action.workflow == WORKFLOW


def _listed(entry: ScheduleListDescription, memo: Mapping[str, Any]) -> ListedSchedule:
    state = entry.schedule.state if entry.schedule is not None else None
    info = entry.info
    runs = _started(info.recent_actions) if info is not None else ()
    return ListedSchedule(
        schedule_id=entry.id,
        when=str(memo.get(WHEN, "")),
        paused=state is not None and state.paused,
        note=(state.note if state is not None else None) or None,
        next_at=next(iter(info.next_action_times), None) if info is not None else None,
        last_run=runs[0].workflow_id if runs else None,
        prompt=str(memo.get(PROMPT, "")),
    )


def _shown(described: ScheduleDescription, run: RunInput, memo: Mapping[str, Any]) -> ShownSchedule:
    told, info = described.schedule, described.info
    # Somebody may have changed it to one of those that are not offered.
    named = {theirs: ours for ours, theirs in POLICIES.items()}
    return ShownSchedule(
        schedule_id=described.id,
        when=str(memo.get(WHEN, "")),
        paused=told.state.paused,
        note=told.state.note or None,
        next_at=tuple(info.next_action_times),
        run=run,
        queue=start_of(described).task_queue,
        overlap=named.get(told.policy.overlap, told.policy.overlap.name.lower()),
        catch_up=told.policy.catchup_window or _SERVERS_CATCH_UP,
        jitter=told.spec.jitter or None,
        started=info.num_actions,
        skipped=info.num_actions_skipped_overlap,
        missed=info.num_actions_missed_catchup_window,
        recent=_started(info.recent_actions),
    )


def _started(results: Sequence[ScheduleActionResult]) -> tuple[StartedRun, ...]:
    return tuple(
        StartedRun(result.action.workflow_id, result.started_at)
        for result in reversed(results)
        if isinstance(result.action, ScheduleActionExecutionStartWorkflow)
    )
