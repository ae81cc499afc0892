"""Where a run stands, by the events so far: the state that every rendering shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pydantic import JsonValue

from surefoot.conversation import ToolCall
from surefoot.events import (
    Answered,
    ApprovalDenied,
    ApprovalEvent,
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
from surefoot.ledger import Ledger, ToolExecution, reduce_event


@dataclass(frozen=True)
class CallProgress:
    """One tool call of the current turn, with what the model sent for it."""

    execution: ToolExecution
    params: JsonValue
    approvals: tuple[ApprovalEvent, ...] = ()
    """What was asked about it, and decided."""

    @property
    def since(self) -> datetime | None:
        """When it started, as far as anyone said, else when it was scheduled; None if it never was."""
        return self.execution.started_at or self.execution.scheduled_at


@dataclass(frozen=True)
class Progress:
    """What a sequence of events amounts to, as far as people look at it; it stays small in a long run."""

    turn: int = 0
    asked_model_at: datetime | None = None
    """Since when the model is being asked; None while it is not."""
    started_at: datetime | None = None
    asked: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """The params of the current turn's calls, by call id."""
    approvals: Mapping[str, tuple[ApprovalEvent, ...]] = field(
        default_factory=dict[str, tuple[ApprovalEvent, ...]]
    )
    """What was asked and decided about the current turn's calls, by tool_exec_id."""
    in_flight: Mapping[str, CallProgress] = field(default_factory=dict[str, CallProgress])
    """The calls that were scheduled and have not ended, by tool_exec_id, in the order of their start."""
    ended: CallProgress | None = None
    """The call that the last event ended."""
    ended_in_turn: int = 0
    held_back: str = ""
    """The text of a reply that asked for no tools: the answer, if the run ends with it."""
    executions: int = 0
    failed_executions: int = 0
    listens: bool = False
    """Whether it has answered, and waits for the next message."""
    paused: bool = False
    """Whether somebody paused it."""
    model_away: str | None = None
    """Why the model cannot be asked, while the run waits for it."""
    untrusted: str | None = None
    """The call, by its tool_exec_id, that first brought untrusted content."""
    finished: RunFinished | None = None

    @property
    def to_approve(self) -> tuple[ApprovalRequested, ...]:
        """The calls that wait for approval."""
        newest = (events[-1] for events in self.approvals.values())
        return tuple(event for event in newest if isinstance(event, ApprovalRequested))

    @property
    def going(self) -> str:
        """How the run stands, in a word: `running`, `paused` or `waiting`, or how it ended."""
        if self.finished is not None:
            return self.finished.status
        if self.paused:
            return "paused"
        waits = self.listens or bool(self.to_approve) or self.model_away is not None
        return "waiting" if waits else "running"

    @property
    def not_scheduled(self) -> int:
        """How many calls of the current turn wait in the workflow for their turn."""
        return max(len(self.asked) - self.ended_in_turn - len(self.in_flight), 0)


def advance(progress: Progress, event: Event) -> Progress:
    """Give the progress after one more event."""
    progress = replace(progress, ended=None, held_back="")
    match event:
        case RunStarted(time=time):
            return replace(progress, started_at=time)
        case ContextCompacted() | LimitRaised():
            return progress
        case Answered() | MessageReceived() | TurnStarted():
            return _after_saying(progress, event)
        case RunPaused() | ModelUnavailable() | RunResumed():
            return _after_steering(progress, event)
        case ModelReplied(text=text, tool_calls=calls):
            return replace(
                progress,
                asked_model_at=None,
                asked=_params(calls),
                approvals={},
                ended_in_turn=0,
                held_back="" if calls else text,
            )
        case RunFinished():
            return replace(progress, asked_model_at=None, in_flight={}, approvals={}, finished=event)
        case ApprovalRequested() | ApprovalGiven() | ApprovalDenied():
            return _after_approval(progress, event)
        case ToolExecutionScheduled() | ToolExecutionStarted():
            call = _call_after(progress, event)
            return replace(progress, in_flight={**progress.in_flight, event.tool_exec_id: call})
        case ToolExecutionCompleted() | ToolExecutionFailed():
            return _after_ending(progress, event)


def text_to_show(before: Progress, event: Event) -> str:
    """Give what the model said that is due with this event; an answer is left for the end of the run."""
    match event:
        case ModelReplied(text=text, tool_calls=calls):
            return text if calls else ""
        case RunFinished(answer=answer) if answer == before.held_back:
            return ""
        case _:
            return before.held_back


def _params(calls: tuple[ToolCall, ...]) -> dict[str, JsonValue]:
    return {call.id: call.params for call in calls}


def _after_saying(progress: Progress, event: Answered | MessageReceived | TurnStarted) -> Progress:
    match event:
        case Answered():
            return replace(progress, listens=True)
        case MessageReceived():
            return replace(progress, listens=False)
        case TurnStarted(time=time, turn=turn):
            return replace(progress, turn=turn, asked_model_at=time, listens=False)


def _after_steering(progress: Progress, event: RunPaused | ModelUnavailable | RunResumed) -> Progress:
    match event:
        case RunPaused():
            return replace(progress, paused=True)
        case ModelUnavailable(reason=reason):
            return replace(progress, asked_model_at=None, model_away=reason)
        case RunResumed():
            return replace(progress, paused=False, model_away=None)


def _after_approval(progress: Progress, event: ApprovalEvent) -> Progress:
    name, asked = event.tool_exec_id, progress.asked
    if isinstance(event, ApprovalGiven) and event.params is not None:
        asked = {**asked, event.call_id: event.params}
    about = (*progress.approvals.get(name, ()), event)
    return replace(progress, asked=asked, approvals={**progress.approvals, name: about})


def _after_ending(progress: Progress, event: ToolExecutionCompleted | ToolExecutionFailed) -> Progress:
    left = {name: call for name, call in progress.in_flight.items() if name != event.tool_exec_id}
    return replace(
        progress,
        in_flight=left,
        # A call that is cancelled while it waits ends without a decision.
        approvals={name: about for name, about in progress.approvals.items() if name != event.tool_exec_id},
        ended=_call_after(progress, event),
        ended_in_turn=progress.ended_in_turn + 1,
        executions=progress.executions + 1,
        failed_executions=progress.failed_executions + isinstance(event, ToolExecutionFailed),
        untrusted=progress.untrusted or (event.tool_exec_id if event.untrusted else None),
    )


def _call_after(
    progress: Progress,
    event: ToolExecutionScheduled | ToolExecutionStarted | ToolExecutionCompleted | ToolExecutionFailed,
) -> CallProgress:
    before = progress.in_flight.get(event.tool_exec_id)
    ledger = Ledger(executions=() if before is None else (before.execution,))
    (execution,) = reduce_event(ledger, event).executions
    about = progress.approvals.get(event.tool_exec_id, ())
    return CallProgress(execution, progress.asked.get(event.call_id), about)
