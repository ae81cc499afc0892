"""Where a run stands, as an operator wants to know it: a short state, folded from the ledger's events."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from surefoot.attributes import Status
from surefoot.conversation import ToolCall
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
from surefoot.masking import masked_params, masked_texts, text_without
from surefoot.outcome import ErrorCode
from surefoot.redaction import redacted
from surefoot.strict_json import encode_json
from surefoot.summary import shorten, shorten_shown, summarize_params
from surefoot.untrusted import UntrustedSource
from surefoot.wire import WireModel, is_empty, is_none

NEXT_MESSAGE = "the next message"
"""What a session waits for."""

MOST_RECENT = 8
"""How many executions that have ended are kept."""

_MOST_ARGUMENTS_CHARACTERS = 60
_MOST_SENTENCE_CHARACTERS = 300
_MOST_ASKED_CHARACTERS = 400


class Call(WireModel):
    """One tool call that runs, waits for approval, or has ended."""

    tool_exec_id: str
    tool: str
    arguments: str = ""
    """In short, without secrets."""
    params_sha256: str | None = None
    """What a decision has to name, while it waits for approval."""
    signed: bool = Field(default=False, exclude_if=is_empty)
    """Whether such a decision has to be signed."""
    since: datetime
    """When it was scheduled; of one that never was, when it was refused."""
    ended: datetime | None = None
    error_code: ErrorCode | None = None


class LastFailure(WireModel):
    """The failure of a call that came last, in its own sentence."""

    tool_exec_id: str
    error_code: ErrorCode
    error: str


class Ended(WireModel):
    """How the run ended."""

    status: Literal["completed", "limit_reached", "failed", "cancelled"]
    error: str | None = None


class Progress(WireModel):
    """What an operator is shown of a run."""

    turn: int = 0
    asking: bool = False
    """Whether the model is being asked."""
    asked: tuple[ToolCall, ...] = Field(default=(), exclude=True)
    """The calls of the last reply; between two turns nobody needs them."""
    redact: Mapping[str, tuple[str, ...]] = Field(default_factory=dict[str, tuple[str, ...]], exclude=True)
    """What is not shown of them, by the name of the tool."""
    running: tuple[Call, ...] = ()
    recent: tuple[Call, ...] = ()
    """The newest last."""
    failures: int = 0
    error_codes: tuple[ErrorCode, ...] = ()
    """Each that a call failed with, once, in the order of their first failures."""
    last_failure: LastFailure | None = None
    awaiting_approval: tuple[Call, ...] = ()
    waiting_for: str | None = None
    """What the whole run waits for, in a few words: `the next message`."""
    paused: str | None = None
    """Why the run is paused; empty where nobody said."""
    model_away: str | None = None
    """Why the model cannot be asked, while the run waits for it."""
    untrusted: UntrustedSource | None = Field(default=None, exclude_if=is_none)
    """Where the run's own calls first brought untrusted content from, if any did."""
    sandbox: str | None = Field(default=None, exclude_if=is_none)
    """The level of the sandbox that the last executable ran at, as far as that is known."""
    ended: Ended | None = None
    time: datetime | None = None
    """Of the last event."""

    @property
    def status(self) -> Status:
        """The run's status, as it is found by."""
        if self.ended is not None:
            return self.ended.status
        if self.paused is not None:
            return "paused"
        waits = (self.awaiting_approval, self.waiting_for is not None, self.model_away is not None)
        return "waiting" if any(waits) else "running"


def progress_after(progress: Progress, event: Event) -> Progress:
    """Give where the run stands after one more event."""
    now = progress.model_copy(update={"time": event.time, "sandbox": _sandbox(event) or progress.sandbox})
    match event:
        case RunStarted() | MessageReceived() | ContextCompacted() | ToolExecutionStarted() | LimitRaised():
            return now
        case RunPaused() | ModelUnavailable() | RunResumed():
            return _after_holding(now, event)
        case TurnStarted(turn=turn):
            return now.model_copy(update={"turn": turn, "asking": True, "asked": (), "waiting_for": None})
        case Answered():
            return now.model_copy(update={"waiting_for": NEXT_MESSAGE})
        case ModelReplied(turn=turn, tool_calls=calls, redact=redact):
            return now.model_copy(update={"turn": turn, "asking": False, "asked": calls, "redact": redact})
        case ApprovalRequested() | ApprovalGiven() | ApprovalDenied():
            return _after_approval(now, event)
        case ToolExecutionScheduled(tool_exec_id=tool_exec_id, tool=tool, time=time):
            call = _call(now, tool_exec_id, tool, time)
            return now.model_copy(update={"running": (*now.running, call)})
        case ToolExecutionCompleted() | ToolExecutionFailed():
            return _after_ending(now, event)
        case RunFinished(status=status, error=error):
            ended = Ended(status=status, error=error and shorten_shown(error, _MOST_SENTENCE_CHARACTERS))
            return now.model_copy(
                update={"ended": ended, "asking": False, "running": (), "awaiting_approval": ()}
            )


def _sandbox(event: Event) -> str | None:
    return event.sandbox if isinstance(event, ToolExecutionStarted) else None


def call_of(progress: Progress, tool_exec_id: str, tool: str, *, time: datetime) -> Call:
    """Give a call of the last reply as it is shown, named by `<turn>-<n>`."""
    return _call(progress, tool_exec_id, tool, time)


def _after_holding(now: Progress, event: RunPaused | ModelUnavailable | RunResumed) -> Progress:
    match event:
        case RunPaused(reason=reason):
            return now.model_copy(update={"paused": shorten_shown(reason or "", _MOST_SENTENCE_CHARACTERS)})
        case ModelUnavailable(reason=reason):
            away = shorten_shown(reason, _MOST_SENTENCE_CHARACTERS)
            return now.model_copy(update={"model_away": away, "asking": False})
        case RunResumed():
            return now.model_copy(update={"paused": None, "model_away": None})


def _after_approval(now: Progress, event: ApprovalRequested | ApprovalGiven | ApprovalDenied) -> Progress:
    if isinstance(event, ApprovalRequested):
        asked = shorten(
            encode_json(redacted(masked_params(event.params, event.redact))), _MOST_ASKED_CHARACTERS
        )
        call = _call(now, event.tool_exec_id, event.tool, event.time)
        named = {"params_sha256": event.params_sha256, "signed": event.signed}
        call = call.model_copy(update={"arguments": asked, **named})
        return now.model_copy(update={"awaiting_approval": (*now.awaiting_approval, call)})
    decided = now.model_copy(update={"awaiting_approval": _others(now.awaiting_approval, event.tool_exec_id)})
    if isinstance(event, ApprovalDenied) or event.params is None:
        return decided
    asked = tuple(
        call.model_copy(update={"params": event.params}) if call.id == event.call_id else call
        for call in now.asked
    )
    return decided.model_copy(update={"asked": asked})


def _others(calls: tuple[Call, ...], tool_exec_id: str) -> tuple[Call, ...]:
    return tuple(call for call in calls if call.tool_exec_id != tool_exec_id)


def _after_ending(now: Progress, event: ToolExecutionCompleted | ToolExecutionFailed) -> Progress:
    began = next((call for call in now.running if call.tool_exec_id == event.tool_exec_id), None)
    call = began or _call(now, event.tool_exec_id, event.tool, event.time)
    code = event.error.code if isinstance(event, ToolExecutionFailed) else None
    call = call.model_copy(update={"ended": event.time, "error_code": code})
    after = now.model_copy(
        update={
            "running": tuple(other for other in now.running if other is not began),
            "recent": (*now.recent, call)[-MOST_RECENT:],
            # A call that is cancelled while it waits ends without a decision.
            "awaiting_approval": _others(now.awaiting_approval, event.tool_exec_id),
        }
    )
    if event.untrusted and now.untrusted is None:
        source = UntrustedSource(tool=call.tool, tool_exec_id=event.tool_exec_id)
        after = after.model_copy(update={"untrusted": source})
    if not isinstance(event, ToolExecutionFailed):
        return after
    failure = LastFailure(
        tool_exec_id=event.tool_exec_id,
        error_code=event.outcome.error_code,
        error=_sentence(now, event),
    )
    codes = tuple(dict.fromkeys((*now.error_codes, failure.error_code)))
    return after.model_copy(
        update={"failures": now.failures + 1, "last_failure": failure, "error_codes": codes}
    )


def _sentence(progress: Progress, event: ToolExecutionFailed) -> str:
    error, paths = event.error.message, progress.redact.get(event.tool, ())
    call = next((call for call in progress.asked if call.id == event.call_id), None)
    # What was wrong with a param may quote it.
    error = text_without(error, masked_texts(call.params if call else None, paths))
    return shorten_shown(error, _MOST_SENTENCE_CHARACTERS)


def _call(progress: Progress, tool_exec_id: str, tool: str, time: datetime) -> Call:
    return Call(
        tool_exec_id=tool_exec_id,
        tool=shorten_shown(tool, 64),
        arguments=_arguments(progress, tool_exec_id),
        since=time,
    )


def _arguments(progress: Progress, tool_exec_id: str) -> str:
    number = tool_exec_id.rpartition("-")[2]
    if not number.isdecimal() or not 1 <= int(number) <= len(progress.asked):
        return ""
    call = progress.asked[int(number) - 1]
    match call.params:
        case dict() as params:
            shown = summarize_params(params, progress.redact.get(call.tool, ()))
            return shorten_shown(shown, _MOST_ARGUMENTS_CHARACTERS)
        case _:
            return ""
