"""What a run is doing right now. No event can tell: a workflow learns of a start only with the ending."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import ValidationError
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import WorkflowExecutionDescription, WorkflowExecutionStatus, WorkflowHandle
from temporalio.converter import DataConverter

from activities.interface import LLM_TURN, Capture, Written
from workers.encryption.failures import message_of
from workflows.payloads import UnreadableError

_Told = TypeVar("_Told", Capture, Written)

_RUNS = frozenset(
    {
        PendingActivityState.PENDING_ACTIVITY_STATE_STARTED,
        # What was asked of an activity does not stop it: its worker may not have heard of it yet.
        PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
        PendingActivityState.PENDING_ACTIVITY_STATE_PAUSE_REQUESTED,
    }
)


@dataclass(frozen=True)
class RunningActivity:
    """A model turn or a tool call that has not ended, with what its last heartbeat told."""

    activity_id: str
    """`<turn>-<n>` for a tool call: its tool_exec_id."""
    activity_type: str
    started_at: datetime | None
    """None while it waits for a worker, or for its next attempt."""
    attempt: int
    next_attempt_at: datetime | None
    last_failure: str | None
    captured: Capture | None
    """A tool call's latest output, if it told any."""
    written: Written | None = None
    """What the model has written of its reply, while it is being asked for it."""


@dataclass(frozen=True)
class Snapshot:
    """A run as the server sees it now."""

    status: WorkflowExecutionStatus | None
    running: tuple[RunningActivity, ...]
    """In the order they were scheduled."""
    served: bool
    """Whether a worker answered for the run a moment ago."""
    closed_at: datetime | None = None
    """When the run ended; None while it goes on, also as a new one."""
    unreadable: str | None = None
    """Why nobody can tell what happened in it, in one sentence; None if that is not so."""


async def snapshot_of(run: WorkflowHandle[Any, Any], *, served: bool) -> Snapshot:
    """Describe the run; a handle without a run id gives the newest of its chain.

    Raises:
        RPCError: the server did not answer, or does not know the run.
    """
    return await snapshot_from(await run.describe(), served=served)


async def snapshot_from(
    description: WorkflowExecutionDescription, *, served: bool, unreadable: str | None = None
) -> Snapshot:
    """Give what a description says that the run is doing."""
    pending = list(description.raw_description.pending_activities)
    pending.sort(key=lambda one: one.scheduled_time.ToNanoseconds())
    running = [await _running(one, description.data_converter) for one in pending]
    return Snapshot(
        description.status,
        tuple(running),
        served,
        description.close_time if has_ended(description.status) else None,
        unreadable,
    )


def has_ended(status: WorkflowExecutionStatus | None) -> bool:
    """Tell whether a run with this status is over; one that continued as new goes on as the next one."""
    match status:
        case None | WorkflowExecutionStatus.RUNNING | WorkflowExecutionStatus.CONTINUED_AS_NEW:
            return False
        case _:
            return True


async def _running(pending: PendingActivityInfo, converter: DataConverter) -> RunningActivity:
    started = pending.state in _RUNS
    kind = pending.activity_type.name
    told = await _told(pending, converter)
    return RunningActivity(
        activity_id=pending.activity_id,
        activity_type=kind,
        started_at=_time(pending.last_started_time) if started else None,
        attempt=pending.attempt,
        next_attempt_at=None if started else _time(pending.next_attempt_schedule_time),
        last_failure=await message_of(pending.last_failure, converter) or None,
        captured=None if kind == LLM_TURN else _read(Capture, told),
        # While it waits for its next attempt, the server still has what the last one wrote.
        written=_read(Written, told) if kind == LLM_TURN and started else None,
    )


async def _told(pending: PendingActivityInfo, converter: DataConverter) -> object:
    if not pending.heartbeat_details.payloads:
        return None
    try:
        return (await converter.decode(pending.heartbeat_details.payloads))[0]
    except (UnreadableError, RuntimeError, KeyError, ValueError):
        return None


def _read(kind: type[_Told], told: object) -> _Told | None:
    try:
        return None if told is None else kind.model_validate(told)
    except ValidationError:
        return None


def _time(stamp: Timestamp) -> datetime | None:
    return stamp.ToDatetime(tzinfo=UTC) if stamp.ToNanoseconds() else None
