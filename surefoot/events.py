"""The events of a run: all that a watcher sees, in the order in which it happened."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from surefoot.conversation import ToolCall
from surefoot.outcome import Acted, ToolFailure, ToolSuccess
from surefoot.usage import Usage
from surefoot.wire import WireModel, is_empty, is_none

RunStatus = Literal["completed", "failed", "limit_reached", "cancelled"]


class _Event(WireModel):
    time: datetime


class RunStarted(_Event):
    """The run exists."""

    type: Literal["run_started"] = "run_started"
    workflow_id: str
    run_id: str


class MessageReceived(_Event):
    """Somebody sent the run a message; the model is told of it before its next turn."""

    type: Literal["message_received"] = "message_received"
    text: str
    sender: str | None = None
    """Who sent it, as far as they said."""
    message_id: str | None = Field(default=None, exclude_if=is_none)
    """What the sender calls it, if anything."""


class Answered(_Event):
    """A session has answered in turn `turn`, and waits for the next message."""

    type: Literal["answered"] = "answered"
    turn: int
    answer: str
    output: JsonValue = None
    """The answer's value, where the run has an output schema."""
    answers: tuple[str, ...] = ()
    """The ids of the messages that the model was told since the answer before, where they have one."""


class RunPaused(_Event):
    """Somebody paused the run: no turn and no tool call is begun until it is resumed; what runs goes on."""

    type: Literal["run_paused"] = "run_paused"
    reason: str | None = None
    sender: str | None = None
    """Who paused it, as far as they said."""


class ModelUnavailable(_Event):
    """The model could not be asked in turn `turn`, and the run waits until it is resumed."""

    type: Literal["model_unavailable"] = "model_unavailable"
    turn: int
    reason: str


class RunResumed(_Event):
    """Somebody let the run go on: it was paused, or waited for its model."""

    type: Literal["run_resumed"] = "run_resumed"
    sender: str | None = None
    """Who resumed it, as far as they said."""


class LimitRaised(_Event):
    """Somebody raised limits of the run; null is no limit."""

    type: Literal["limit_raised"] = "limit_raised"
    limits: Mapping[str, JsonValue]
    """The new ones by their names."""
    before: Mapping[str, JsonValue]
    """The same ones as they were."""
    reason: str | None = None
    sender: str | None = None
    """Who raised them, as far as they said."""


class TurnStarted(_Event):
    """The model is being asked for its reply number `turn`, counted from 1."""

    type: Literal["turn_started"] = "turn_started"
    turn: int


class ModelReplied(_Event):
    """The model said something, asked for tools, or both."""

    type: Literal["model_replied"] = "model_replied"
    turn: int
    text: str
    tool_calls: tuple[ToolCall, ...]
    redact: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict[str, tuple[str, ...]], exclude_if=is_empty
    )
    """The parameters of these calls that people are not shown, as paths, by the name of the tool."""


CompactionReason = Literal["full", "overflow"]
"""Why a conversation was made smaller: its window was nearly full, or the provider refused it."""


class ContextCompacted(_Event):
    """The conversation was made smaller before turn `turn`, to fit the model's window; sizes are as JSON."""

    type: Literal["context_compacted"] = "context_compacted"
    turn: int
    reason: CompactionReason
    results_shortened: int
    turns_summarised: int
    bytes_before: int
    bytes_after: int


class _ToolExecutionEvent(_Event):
    tool_exec_id: str
    call_id: str
    tool: str


ApprovalScope = Literal["once", "run"]
"""Whether one call is approved, or all calls of its tool for the rest of the run."""


class ApprovalRequested(_ToolExecutionEvent):
    """A call waits until somebody approves or denies it."""

    type: Literal["approval_requested"] = "approval_requested"
    params: dict[str, JsonValue]
    """All of them, as the model sent them."""
    params_sha256: str
    """What a decision has to name, so that it is about these params and no others."""
    why: str
    """Why the call needs approval, in a phrase."""
    deadline: datetime | None = None
    """When it is denied if nobody has decided; None is never."""
    redact: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """The parameters that people are not shown unless they ask, as paths."""
    signed: bool = Field(default=False, exclude_if=is_empty)
    """Whether only a signed decision is taken."""


class ApprovalGiven(_ToolExecutionEvent):
    """A call was approved; without an own decision where another call of its tool was, for the whole run."""

    type: Literal["approval_given"] = "approval_given"
    params_sha256: str
    """Of what was asked about."""
    scope: ApprovalScope
    by: str | None = None
    """Who decided, as far as they said."""
    params: dict[str, JsonValue] | None = None
    """What the call is made with instead; None is what the model sent."""
    redact: tuple[str, ...] = Field(default=(), exclude_if=is_empty)
    """What people are not shown of those, as paths."""
    signed_by: str | None = Field(default=None, exclude_if=is_none)
    """The name of the key that signed the decision, where one had to."""


class ApprovalDenied(_ToolExecutionEvent):
    """A call was denied, by somebody or because nobody decided; it is not made."""

    type: Literal["approval_denied"] = "approval_denied"
    params_sha256: str
    reason: str
    by: str | None = None
    """Who decided, as far as they said."""
    signed_by: str | None = Field(default=None, exclude_if=is_none)
    """The name of the key that signed the decision, where one had to."""


ApprovalEvent = ApprovalRequested | ApprovalGiven | ApprovalDenied


class ToolExecutionScheduled(_ToolExecutionEvent):
    """The call was handed to an executor's queue."""

    type: Literal["tool_execution_scheduled"] = "tool_execution_scheduled"


class ToolExecutionStarted(_ToolExecutionEvent):
    """The call had started; a workflow learns it only with the ending, so this stands just before it."""

    type: Literal["tool_execution_started"] = "tool_execution_started"
    started_at: datetime | None = None
    executor: str | None = None
    child_id: str | None = Field(default=None, exclude_if=is_none)
    """The id of the run that answers the call, where the tool is an agent."""
    sandbox: str | None = Field(default=None, exclude_if=is_none)
    """The level of the sandbox that the tool ran at, where it is an executable and its worker says so."""


class ToolExecutionCompleted(_ToolExecutionEvent):
    """The tool gave a valid answer."""

    type: Literal["tool_execution_completed"] = "tool_execution_completed"
    outcome: ToolSuccess
    untrusted: bool = Field(default=False, exclude_if=is_empty)
    """Whether the outcome comes from the world outside."""


class ExecutionError(WireModel):
    """Why an execution failed, in the two fields of seeds/002."""

    message: str
    code: str


class ToolExecutionFailed(_ToolExecutionEvent):
    """There is no valid answer from the tool."""

    type: Literal["tool_execution_failed"] = "tool_execution_failed"
    outcome: ToolFailure
    error: ExecutionError
    acted: Acted
    untrusted: bool = Field(default=False, exclude_if=is_empty)
    """Whether what was captured comes from the world outside."""


class RunFinished(_Event):
    """The run is over; `error` says why it failed, or which limit it reached."""

    type: Literal["run_finished"] = "run_finished"
    status: RunStatus
    answer: str | None = None
    output: JsonValue = None
    """The answer's value, where the run has an output schema and it fits."""
    error: str | None = None
    usage: Usage


Event = Annotated[
    RunStarted
    | MessageReceived
    | Answered
    | RunPaused
    | ModelUnavailable
    | RunResumed
    | LimitRaised
    | TurnStarted
    | ModelReplied
    | ContextCompacted
    | ApprovalRequested
    | ApprovalGiven
    | ApprovalDenied
    | ToolExecutionScheduled
    | ToolExecutionStarted
    | ToolExecutionCompleted
    | ToolExecutionFailed
    | RunFinished,
    Field(discriminator="type"),
]
