"""The ledger's events of a call that has ended."""

from datetime import UTC, datetime
from typing import TypedDict, Unpack

from temporalio import workflow

from surefoot.admission import Admitted
from surefoot.events import (
    ExecutionError,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
)
from surefoot.failures import acted
from surefoot.outcome import ToolFailure, ToolSuccess
from workflows.ending import Start


class Named(TypedDict):
    """Which call an event is about, and when it was."""

    tool_exec_id: str
    call_id: str
    tool: str
    time: datetime


def scheduled_event(tool_exec_id: str, call: Admitted) -> ToolExecutionScheduled:
    """Tell that a call is handed over at this moment, to whatever runs it."""
    return ToolExecutionScheduled(
        time=workflow.now(), tool_exec_id=tool_exec_id, call_id=call.call.id, tool=call.definition.name
    )


def started_event(start: Start, **named: Unpack[Named]) -> ToolExecutionStarted:
    """Tell when a call had started and who ran it, as far as anyone said."""
    return ToolExecutionStarted(
        started_at=_time(start.started_at),
        executor=start.executor,
        child_id=start.child_id,
        sandbox=start.sandbox,
        **named,
    )


def ended_event(
    outcome: ToolSuccess | ToolFailure, *, started: bool, untrusted: bool, **named: Unpack[Named]
) -> ToolExecutionCompleted | ToolExecutionFailed:
    """Tell what a call came to; `started` is whether it ever had, `untrusted` whether it is from outside."""
    match outcome:
        case ToolSuccess():
            return ToolExecutionCompleted(outcome=outcome, untrusted=untrusted, **named)
        case ToolFailure():
            error = ExecutionError(message=outcome.error, code=outcome.error_code)
            return ToolExecutionFailed(
                outcome=outcome,
                error=error,
                acted=acted(outcome, started=started),
                untrusted=untrusted,
                **named,
            )


def _time(text: str | None) -> datetime | None:
    """Read what an executor said; a time without a zone counts as UTC, and what is no time as none."""
    try:
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time
