"""The ledger of a run: what its events amount to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from surefoot.events import (
    Answered,
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    ContextCompacted,
    Event,
    LimitRaised,
    MessageReceived,
    ModelReplied,
    ModelUnavailable,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
    TurnStarted,
)
from surefoot.outcome import ToolFailure, ToolSuccess


@dataclass(frozen=True)
class ToolExecution:
    """One call as the ledger tracks it."""

    tool_exec_id: str
    call_id: str
    tool: str
    status: Literal["scheduled", "started", "completed", "failed"]
    scheduled_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    executor: str | None = None
    child_id: str | None = None
    """The id of the run that answers it, where the tool is an agent."""
    sandbox: str | None = None
    """The level of the sandbox that it ran at, as far as that is known."""
    outcome: ToolSuccess | ToolFailure | None = None
    untrusted: bool = False
    """Whether its outcome comes from the world outside."""


@dataclass(frozen=True)
class Ledger:
    """What a sequence of events amounts to."""

    turn: int = 0
    executions: tuple[ToolExecution, ...] = ()
    waiting: tuple[ApprovalRequested, ...] = ()
    """The calls that wait for approval."""
    finished: RunFinished | None = None

    @property
    def failed(self) -> int:
        """How many executions ended without a valid answer."""
        return sum(execution.status == "failed" for execution in self.executions)


def reduce_events(events: Iterable[Event], ledger: Ledger | None = None) -> Ledger:
    """Fold events into the ledger that they amount to."""
    ledger = ledger or Ledger()
    for event in events:
        ledger = reduce_event(ledger, event)
    return ledger


def reduce_event(ledger: Ledger, event: Event) -> Ledger:
    """Give the ledger after one more event; a call that was never scheduled appears with its failure.

    An execution, and the run, ends once: what comes after its ending adds to it and never reopens it.
    """
    match event:
        case RunStarted() | MessageReceived() | Answered() | ModelReplied() | ContextCompacted():
            return ledger
        case RunPaused() | ModelUnavailable() | RunResumed() | LimitRaised():
            return ledger
        case TurnStarted(turn=turn):
            return replace(ledger, turn=max(turn, ledger.turn))
        case RunFinished():
            return replace(ledger, finished=ledger.finished or event, waiting=())
        case ApprovalRequested():
            return replace(ledger, waiting=(*_without(ledger.waiting, event.tool_exec_id), event))
        case ApprovalGiven() | ApprovalDenied():
            return replace(ledger, waiting=_without(ledger.waiting, event.tool_exec_id))
        case (
            ToolExecutionScheduled()
            | ToolExecutionStarted()
            | ToolExecutionCompleted()
            | ToolExecutionFailed()
        ):
            # A call that is cancelled while it waits ends without a decision.
            waiting = _without(ledger.waiting, event.tool_exec_id)
            return replace(ledger, executions=_with(ledger.executions, event), waiting=waiting)


def _without(waiting: tuple[ApprovalRequested, ...], tool_exec_id: str) -> tuple[ApprovalRequested, ...]:
    return tuple(one for one in waiting if one.tool_exec_id != tool_exec_id)


_ExecutionEvent = ToolExecutionScheduled | ToolExecutionStarted | ToolExecutionCompleted | ToolExecutionFailed


def _with(executions: tuple[ToolExecution, ...], event: _ExecutionEvent) -> tuple[ToolExecution, ...]:
    known = [execution.tool_exec_id for execution in executions]
    if event.tool_exec_id not in known:
        fresh = ToolExecution(event.tool_exec_id, event.call_id, event.tool, "scheduled")
        return (*executions, _reduce_execution(fresh, event))
    at = known.index(event.tool_exec_id)
    return (*executions[:at], _reduce_execution(executions[at], event), *executions[at + 1 :])


def _reduce_execution(execution: ToolExecution, event: _ExecutionEvent) -> ToolExecution:
    match event:
        case ToolExecutionScheduled(time=time):
            return replace(execution, scheduled_at=time)
        case ToolExecutionStarted():
            return replace(
                execution,
                status="started" if execution.outcome is None else execution.status,
                started_at=event.started_at,
                executor=event.executor,
                child_id=event.child_id,
                sandbox=event.sandbox,
            )
        case ToolExecutionCompleted() | ToolExecutionFailed() if execution.outcome is not None:
            return execution
        case ToolExecutionCompleted(time=time, outcome=outcome, untrusted=untrusted):
            return replace(execution, status="completed", ended_at=time, outcome=outcome, untrusted=untrusted)
        case ToolExecutionFailed(time=time, outcome=outcome, untrusted=untrusted):
            return replace(execution, status="failed", ended_at=time, outcome=outcome, untrusted=untrusted)
