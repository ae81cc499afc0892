"""A run from outside: what starts it, what it answers, and the literal names it goes by."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, ValidationInfo, field_validator, model_validator

from surefoot.after_untrusted import AfterUntrusted, RiskClass
from surefoot.approval import Approval, Approvals
from surefoot.authority import Authority
from surefoot.conversation import NOTHING_KEPT, Kept, Message
from surefoot.definition import ToolDefinition
from surefoot.events import ApprovalScope, Event
from surefoot.limits import Limits
from surefoot.output_schema import OutputSchema, prompted_problem
from surefoot.protocol import Protocol
from surefoot.run_text import ModelName, SystemText, run_text
from surefoot.sizes import MAX_INPUT_DEFINITIONS_BYTES, MAX_PROMPT_BYTES, count
from surefoot.untrusted import UntrustedSource
from surefoot.usage import Usage
from surefoot.wire import WireModel, is_empty, is_none

WORKFLOW = "surefoot"
EVENTS_QUERY = "events"
CONVERSATION_QUERY = "conversation"
CANCEL_TOOL_CALL_UPDATE = "cancel_tool_call"
SEND_MESSAGE_UPDATE = "send_message"
SLICES_QUERY = "slices"
PAUSE_UPDATE = "pause"
RESUME_UPDATE = "resume"
RAISE_LIMIT_UPDATE = "raise_limit"
APPROVE_UPDATE = "approve"
DENY_UPDATE = "deny"
END_SESSION_UPDATE = "end_session"

TaskQueueName = Annotated[str, Field(min_length=1, max_length=1_000)]


# The server takes a timeout of zero for none at all.
_Period = Annotated[float, Field(ge=0.001, le=366 * 86_400)]


class ModelPatience(WireModel):
    """How long a turn keeps asking a model that does not answer, in seconds."""

    attempt_seconds: _Period = 600
    longest_pause_seconds: _Period = 300
    total_seconds: _Period = 6 * 3_600


def fit_an_input(tools: Sequence[ToolDefinition]) -> bool:
    """Tell whether a run's input has room for these definitions, whatever else is in it."""
    return sum(len(tool.model_dump_json().encode()) for tool in tools) <= MAX_INPUT_DEFINITIONS_BYTES


def _carried_in_an_input(tools: tuple[ToolDefinition, ...]) -> tuple[ToolDefinition, ...]:
    if not fit_an_input(tools):
        raise ValueError(f"the definitions are above the limit of {count(MAX_INPUT_DEFINITIONS_BYTES)}")
    if len({tool.name for tool in tools}) < len(tools):
        raise ValueError("two tools have the same name")
    return tools


class ChainLimits(WireModel):
    """When a run continues as new, if the server does not suggest it before."""

    max_events: Annotated[int, Field(ge=1)] = 8_192
    max_bytes: Annotated[int, Field(ge=1)] = 8 * 1024 * 1024
    max_updates: Annotated[int, Field(ge=1)] = 1_000
    """The server takes no more than 2,000 updates in one history."""


OnModelFailure = Literal["fail", "wait"]
"""Whether the run fails, or waits until somebody resumes it, and then takes the same turn again."""


OnApproval = Literal["wait", "deny", "fail"]
"""What becomes of a call that needs approval: it waits, is denied at once, or ends the run as failed."""


NoticeKind = Literal["approval", "waiting", "ended"]
"""What people can be told of: a call waits for approval, the run waits for its model, or it has ended."""


class Session(WireModel):
    """A run that goes on after its answers: it waits for the next message, and costs nothing meanwhile."""

    idle_seconds: _Period | None = None
    """How long it waits before it ends as completed, with its last answer; None is for ever."""


class RunInput(WireModel):
    """Everything a run is started with; texts are bounded so that every server and worker can carry them."""

    session: Session | None = Field(default=None, exclude_if=is_none)
    """Makes the run a session; None ends it with its first answer."""
    prompt: Annotated[str, run_text("the prompt", MAX_PROMPT_BYTES, optional=True)]
    """What the agent is to do; only that of a session may be empty: its first message then begins it."""
    model: ModelName
    protocol: Protocol = "native"
    system: SystemText | None = None
    output_schema: OutputSchema | None = None
    """What the final answer must fit, as one JSON value; None where any text will do."""
    limits: Limits = Limits()
    model_patience: ModelPatience = ModelPatience()
    on_model_failure: OnModelFailure = "fail"
    """What becomes of a run whose model refuses, or stays away longer than the run's patience."""
    on_approval: OnApproval = "wait"
    approval_seconds: _Period | None = Field(default=None, exclude_if=is_none)
    """How long a call waits for approval before it is denied; a tool may have a shorter time of its own."""
    approval: Approvals = Field(default_factory=dict[str, Approval], exclude_if=is_empty)
    """When the run's agent wants calls approved; it comes before what tools say themselves."""
    approve: Approvals = Field(default_factory=dict[str, Approval], exclude_if=is_empty)
    """When whoever starts the run wants calls approved: before all else, and for agents that it calls too."""
    authority: Authority = Field(default=(), exclude_if=is_empty)
    """Whose signed decisions on calls it takes, and no others: public keys; empty takes unsigned ones."""
    after_untrusted: AfterUntrusted = Field(default_factory=dict[RiskClass, Approval], exclude_if=is_empty)
    """When calls need approval once the run has read untrusted content, whatever the other rules say; for
    agents that it calls, too."""
    untrusted: UntrustedSource | None = Field(default=None, exclude_if=is_none)
    """What whoever calls the run had read before; None where there is nothing to tell."""
    network: bool | None = Field(default=None, exclude_if=is_none)
    """Whether the run's tools have the network, where they are kept from it; None leaves it to each tool."""
    notify: tuple[NoticeKind, ...] = Field(default=(), exclude_if=is_empty)
    """What its worker tells people of, by the command or the URL in the worker's settings."""
    working_directory: str | None = Field(default=None, exclude_if=is_none)
    """Where tools run, for `outside-workdir`; None where only their worker knows."""
    tools: Annotated[tuple[ToolDefinition, ...], AfterValidator(_carried_in_an_input)] | None = None
    """The tools of the run, where whoever starts it knows them; else the run asks its worker."""
    model_queue: TaskQueueName | None = Field(default=None, exclude_if=is_none)
    """Where the model is asked; None is the run's own task queue, unless its worker names another."""
    agent: Annotated[str, Field(min_length=1, max_length=1_000)] | None = None
    """Which set of its worker's tools the run asks for: a sub-agent's `key`; None is the worker's own."""
    agent_name: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, exclude_if=is_none
    )
    """What the run's agent is called, for people: in lists of runs, and nowhere else."""
    tells_parent: bool = False
    """Whether a run that is cancelled signals its parent workflow what it has used."""
    search_attributes: bool = False
    """Whether the namespace has Surefoot's search attributes; without them, to set one stops the run."""
    error_codes_attribute: bool = Field(default=False, exclude_if=is_empty)
    """Whether it also has `SurefootErrorCodes`, which came later than the others."""
    chain: ChainLimits = ChainLimits()
    carried: str | None = None
    """What a run that continues as new takes along; its prompt is then only a beginning, for people."""

    @field_validator("prompt")
    @classmethod
    def _has_something_to_do(cls, prompt: str, info: ValidationInfo) -> str:
        # Fields are checked in their order: `session` has been, where it can be used.
        if info.data.get("session") is None and not prompt.strip():
            raise ValueError("the prompt is empty")
        return prompt

    @model_validator(mode="after")
    def _tells_answers_from_calls(self) -> "RunInput":
        problem = prompted_problem(self.output_schema or {}) if self.protocol == "prompted" else None
        if problem is not None:
            raise ValueError(f"the output schema is refused: {problem}")
        return self


class RunResult(WireModel):
    """How a run ended, when it did not fail and was not cancelled."""

    status: Literal["completed", "limit_reached"]
    answer: str
    output: JsonValue = None
    """The answer's value, where the run has an output schema and it fits."""
    reason: str | None = None
    """The limit that ended the run."""
    turns: int
    tool_executions: int
    failed_tool_executions: int
    usage: Usage
    """The usage of the agents that it called is part of it."""
    tool_calls: int = 0
    """What counts against the limit of tool calls: its own calls, and those of the agents that it called."""
    untrusted: bool = Field(default=False, exclude_if=is_empty)
    """Whether the run, or whoever called it, has read untrusted content: its answer may be made of it."""


class EventsPage(WireModel):
    """The answer of the `events` query: the ledger from an offset on, as much as fits a page."""

    events: tuple[Event, ...]
    next_offset: int
    more: bool
    """Whether the ledger already holds events beyond this page."""
    first_offset: int = 0
    """Where this run of a chain begins; what came before is to be asked of the run before it."""
    continued_from: str | None = None
    """The run id of the run before this one in its chain."""


class ConversationRequest(WireModel):
    """The argument of the `conversation` query: messages from `start` up to, not including, `end`."""

    start: int
    end: int


class ConversationPage(WireModel):
    """The answer of the `conversation` query, as many of the messages as fit a page; at least one if any."""

    messages: tuple[Message, ...]
    base: Kept = NOTHING_KEPT
    """The beginning that the run does not have at hand: its messages are in a store, and in no page."""


class CancelToolCall(WireModel):
    """The argument of the `cancel_tool_call` update: which one call to stop, while the run goes on."""

    tool_exec_id: str
    """`<turn>-<n>`, as the ledger names it."""


class SendMessage(WireModel):
    """The argument of the `send_message` update: what to tell the model before its next turn."""

    text: str
    """At most 64 KiB as JSON."""
    sender: str | None = None
    """Who says it, for the ledger alone; at most 200 characters."""
    message_id: str | None = Field(default=None, exclude_if=is_none)
    """Made up by whoever sends it, and named by the answer of a session; at most 200 characters."""


class EndSession(WireModel):
    """The argument of the `end_session` update: nothing more is asked of a session that waits."""


class Pause(WireModel):
    """The argument of the `pause` update: no turn and no tool call is begun until the run is resumed."""

    reason: str | None = None
    """Why, for people; at most 2,000 characters."""
    sender: str | None = None
    """Who pauses it, for the ledger alone; at most 200 characters."""


class Resume(WireModel):
    """The argument of the `resume` update, for a run that was paused, or that waits for its model."""

    sender: str | None = None
    """Who resumes it, for the ledger alone; at most 200 characters."""


class RaiseLimit(WireModel):
    """The argument of the `raise_limit` update: new limits by their names, each higher, or null for none."""

    limits: Mapping[str, JsonValue]
    """Any of `Limits`, such as `{"max_turns": 80, "max_cost": null}`."""
    reason: str | None = None
    """Why, for people; at most 2,000 characters."""
    sender: str | None = None
    """Who raises it, for the ledger alone; at most 200 characters."""


class Approve(WireModel):
    """The argument of the `approve` update: let one call that waits for approval be made."""

    tool_exec_id: str
    """`<turn>-<n>`, as the ledger names it."""
    params_sha256: str
    """As the ledger has it: a decision is about these params and no others."""
    scope: ApprovalScope = "once"
    """`run` approves every call of the tool for the rest of the run, those that wait already included."""
    params: JsonValue = None
    """What the call is made with instead of what the model sent; they must fit the tool."""
    by: str | None = None
    """Who decides, for the ledger alone; at most 200 characters."""
    token: str | None = Field(default=None, exclude_if=is_none)
    """The signed decision, in a run that has an authority (docs/approvals.md)."""


class Deny(WireModel):
    """The argument of the `deny` update: one call that waits for approval is not made."""

    tool_exec_id: str
    """`<turn>-<n>`, as the ledger names it."""
    params_sha256: str
    """As the ledger has it: a decision is about these params and no others."""
    reason: str
    """Why, for the model; at most 1,000 characters."""
    by: str | None = None
    """Who decides, for the ledger alone; at most 200 characters."""
    token: str | None = Field(default=None, exclude_if=is_none)
    """The signed decision, in a run that has an authority (docs/approvals.md)."""
