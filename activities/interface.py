"""What workflows know of activities: literal names and typed payloads."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, JsonValue

from surefoot.conversation import NOTHING_KEPT, AssistantMessage, Kept, Message, Prefix
from surefoot.definition import ToolDefinition
from surefoot.run import Protocol, TaskQueueName
from surefoot.usage import NO_USAGE, Usage
from surefoot.wire import WireModel, is_empty, is_none

LLM_TURN = "llm_turn"
LIST_TOOLS = "list_tools"
DESCRIBE_QUEUE = "describe_queue"
KEEP_CONVERSATION = "keep_conversation"
COMPACT_CONTEXT = "compact_context"
NOTIFY_PEOPLE = "notify_people"

MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
"""The type of a model error that time may heal: rate limits, overload, 5xx, timeouts, connections."""

MODEL_REFUSED = "MODEL_REFUSED"
"""The type of a model error that asking again cannot heal: key, quota, rejected request, unknown model."""

CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
"""The type of a model error that a shorter conversation may heal; `details[0]` is an `Overflow`."""

AGENT_UNKNOWN = "AGENT_UNKNOWN"
"""The type of the error of a worker that is asked for the tools of an agent which it does not have."""

STARTED_AT_METADATA = "surefoot-started-at"
"""Metadata of our executors' answers: when the call started, ISO 8601."""

EXECUTOR_METADATA = "surefoot-executor"
"""Metadata of our executors' answers: the identity of the worker that ran the call."""

SANDBOX_METADATA = "surefoot-sandbox"
"""Metadata of our executors' answers: the level of the sandbox that an executable ran at."""

EXCERPT_METADATA = "surefoot-excerpt"
"""Metadata of our executors' answers: the value stands for an answer that has been checked, and is kept whole
elsewhere because it is above the model's limit."""


class ToolList(WireModel):
    """The answer of `list_tools`: what the worker that serves the run's queue can run."""

    tools: tuple[ToolDefinition, ...]
    tools_queue: TaskQueueName | None = Field(default=None, exclude_if=is_none)
    """Where to ask instead, when this worker leaves tools to others."""
    model_queue: TaskQueueName | None = Field(default=None, exclude_if=is_none)
    """Where to ask the model, when this worker leaves that to others."""
    working_directory: str | None = Field(default=None, exclude_if=is_none)
    """Where this worker runs them."""
    sandbox: str | None = Field(default=None, exclude_if=is_none)
    """The level of the sandbox that this worker runs executables at."""


class ToolListRequest(WireModel):
    """The argument of `list_tools` for a run of an agent; other runs ask without one."""

    agent: str
    """The `key` of its `SubAgent`."""


class Notified(WireModel):
    """The answer of `notify_people`, whose input is a `Notice`."""

    told: bool
    """False where the worker has nobody to tell."""


class QueueQuestion(WireModel):
    """The input of `describe_queue`, which answers with the `QueueListeners` of that task queue."""

    queue: str


class KeepInput(WireModel):
    """The input of `keep_conversation`, which answers with the `Kept` that names all messages up to `upto`.

    `base` is what is kept already.
    """

    base: Kept
    upto: Prefix


class LlmTurnInput(WireModel):
    """One turn: the prefix that the model activity was given before, and only what is new since."""

    turn: int
    model: str
    protocol: Protocol
    prefix: Prefix
    new_messages: tuple[Message, ...]
    """Empty when the new messages are too large to travel here; `conversation` tells where they stand."""
    conversation: Prefix
    """The whole conversation that the model is to be given: prefix and new messages."""
    closing: bool = False
    """The model must answer without tools."""
    cost_limited: bool = False
    """Only a model whose price is known may be asked."""
    redact: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict[str, tuple[str, ...]], exclude_if=is_empty
    )
    """What people are not shown of the calls of these tools, as paths: the model's worker traces them."""


class LlmTurnResult(WireModel):
    """The model's reply, scrubbed of what no payload converter can carry."""

    reply: AssistantMessage
    usage: Usage
    model_name: str
    """The model that answered, as the provider names it."""
    context_window: int | None = None
    """How many tokens fit the model; None for a model that nobody here knows so well."""


WritingKind = Literal["reasoning", "text", "call"]


class Written(WireModel):
    """What a model has written of its reply so far: the heartbeat details of `llm_turn`."""

    text: str = ""
    """The end of its text."""
    doing: WritingKind | None = None
    """What it is writing now; None while it has not begun."""
    tool: str | None = None
    """The tool of the call that it is writing now."""
    characters: int = 0
    """How much it has written of all three together."""


class CompactInput(WireModel):
    """The input of `compact_context`: the turn that is to be taken, and how full the window is."""

    turn: LlmTurnInput
    window_tokens: int | None
    """None where only the provider knows it."""
    tokens: int
    """What the conversation is thought to take of it."""


class CompactResult(WireModel):
    """The conversation that the run is to go on with, and what was done to it."""

    messages: tuple[Message, ...] = ()
    """Empty when they are too large to travel, and in the store."""
    kept: Kept = NOTHING_KEPT
    size_bytes: int
    """The conversation's as `Conversation` counts it."""
    tokens: int
    """What it is thought to take of the window now."""
    results_shortened: int
    turns_summarised: int
    summary: str = ""
    """What stands for those turns, for people; empty where it is among the messages."""
    bytes_before: int
    bytes_after: int
    usage: Usage = NO_USAGE
    """What the turns cost that wrote a summary."""


class ToolCallInput(WireModel):
    """The input of every tool activity; executors in any language read this JSON object."""

    tool: str
    params: dict[str, JsonValue]
    call_id: str
    """`<workflow_id>/<tool_exec_id>`: the same for every attempt, unlike any other call's."""
    timeout_seconds: float
    network: bool | None = Field(default=None, exclude_if=is_none)
    """Whether the run lets its tools have the network; None is what the tool's definition says."""


class Capture(WireModel):
    """What a tool had written: `details[0]` of a tool activity's failure, and its heartbeat details."""

    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    started_at: str | None = None
    sandbox: str | None = Field(default=None, exclude_if=is_none)
    """The level of the sandbox that an executable ran at."""
