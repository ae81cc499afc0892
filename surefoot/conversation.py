"""What was said in a run, with a digest that tells two conversations apart."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from surefoot.definition import ToolDefinition
from surefoot.outcome import Outcome
from surefoot.wire import WireModel, is_empty

NO_DIGEST = ""


class ToolCall(WireModel):
    """One call that the model asked for; `id` is unique within its turn.

    `params` is what the model sent: text where its arguments could not be parsed as JSON.
    """

    id: str
    tool: str
    params: JsonValue


class SystemMessage(WireModel):
    """The first message of every conversation: the system prompt and the tool definitions."""

    role: Literal["system"] = "system"
    text: str
    tools: tuple[ToolDefinition, ...] = ()


Purpose = Literal["prompt", "closing", "correction", "warning", "summary", "message", "approval"]


class UserMessage(WireModel):
    """A message in the user's role; `purpose` tells the user's own words from what the runtime asks.

    The user's own are the prompt, and each message that was sent to the run later.
    """

    role: Literal["user"] = "user"
    text: str
    purpose: Purpose = "prompt"
    summarised_turns: int = 0
    """How many turns a summary stands for."""


class AssistantMessage(WireModel):
    """The model's reply; `provider_state` is opaque, and given back only to the same provider."""

    role: Literal["assistant"] = "assistant"
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    unreadable: str | None = None
    """Why the reply could not be read; None for a reply that could."""
    provider: str | None = None
    provider_state: JsonValue = None


class ToolMessage(WireModel):
    """The outcome of one tool call."""

    role: Literal["tool"] = "tool"
    call_id: str
    tool: str
    outcome: Outcome
    untrusted: bool = Field(default=False, exclude_if=is_empty)
    """Whether it comes from the world outside; nothing of what the model reads in it differs for that."""


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Prefix(WireModel):
    """Names the beginning of a conversation: how many messages, and the digest over them."""

    length: int = 0
    digest: str = NO_DIGEST


class Kept(WireModel):
    """The beginning of a conversation that a store keeps: its name, and the objects that hold it in order."""

    prefix: Prefix = Prefix()
    keys: tuple[str, ...] = ()


NOTHING_KEPT = Kept()


@dataclass(frozen=True)
class Conversation:
    """All that was said in a run, with what the next step depends on kept as it grows.

    `messages` are those after `base`, and positions count from the very beginning.
    """

    messages: tuple[Message, ...] = ()
    digest: str = NO_DIGEST
    turns: int = 0
    """How many times the model has replied."""
    closing: bool = False
    """Whether the model was told to answer with what it has."""
    corrections_in_a_row: int = 0
    """How often the model was corrected since it last called tools or the user spoke."""
    last_text: str = ""
    """The newest text that the model said; not every reply has one."""
    base: Kept = NOTHING_KEPT
    """What is not at hand."""
    size_bytes: int = 0
    """The whole of it as JSON, the base included."""

    def append(self, *messages: Message) -> "Conversation":
        """Give the conversation with these messages at its end."""
        digest, turns, closing = self.digest, self.turns, self.closing
        corrections_in_a_row, last_text = self.corrections_in_a_row, self.last_text
        size_bytes = self.size_bytes
        for message in messages:
            # Without defaults, so that a field added later leaves the digests of old messages as they are.
            body = message.model_dump_json(exclude_defaults=True).encode()
            digest = hashlib.sha256(f"{digest}\n{message.role}\n".encode() + body).hexdigest()
            size_bytes += len(body)
            match message:
                case AssistantMessage(text=text, tool_calls=calls, unreadable=unreadable):
                    turns += 1
                    corrections_in_a_row = 0 if calls and unreadable is None else corrections_in_a_row
                    last_text = text or last_text
                case UserMessage(purpose=purpose):
                    closing = purpose == "closing"
                    corrections_in_a_row = _corrections(corrections_in_a_row, purpose)
                case SystemMessage() | ToolMessage():
                    pass
        return replace(
            self,
            messages=(*self.messages, *messages),
            digest=digest,
            turns=turns,
            closing=closing,
            corrections_in_a_row=corrections_in_a_row,
            last_text=last_text,
            size_bytes=size_bytes,
        )

    @property
    def last(self) -> Message | None:
        """The newest message; None for one that is not at hand."""
        return self.messages[-1] if self.messages else None

    @property
    def prefix(self) -> Prefix:
        """The name of the whole conversation as the beginning of a longer one."""
        return Prefix(length=self.base.prefix.length + len(self.messages), digest=self.digest)

    def between(self, start: int, end: int) -> tuple[Message, ...]:
        """Give the messages from position `start` up to `end`, without those of the base."""
        first = self.base.prefix.length
        return self.messages[max(start - first, 0) : max(end - first, 0)]


def _corrections(before: int, purpose: Purpose) -> int:
    match purpose:
        case "correction":
            return before + 1
        case "prompt" | "message":
            return 0
        case "closing" | "warning" | "summary" | "approval":
            return before


def fit(messages: Iterable[Message], limit_bytes: int) -> bool:
    """Tell whether messages are within a limit as JSON; measures no more of them than that takes.

    To measure all of a large turn would take longer than a workflow task may.
    """
    left_bytes = limit_bytes
    for message in messages:
        left_bytes -= message_bytes(message)
        if left_bytes < 0:
            return False
    return True


def message_bytes(message: Message) -> int:
    """Tell the size of a message as JSON."""
    return len(message.model_dump_json().encode("utf-8"))
