"""The prompted protocol (seeds/004): tools and their outcomes as plain text, calls as one JSON object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from surefoot.conversation import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from surefoot.outcome import envelope
from surefoot.prompt import tool_section
from surefoot.strict_json import encode_json

REPLY_FORMAT = """To call tools, reply with one JSON object and nothing else:

```json
{"reasoning": "why you call them", "tool_calls": [{"tool": "the tool's name", "params": {}}]}
```

Put all calls that do not wait for one another into the same object: they run side by side. You get their \
results in one message, each as a JSON object under a heading such as `### bash (call 1)`. To answer, reply \
without `tool_calls`: in plain text, or as an output schema above asks for."""

_HEADING_CHARACTERS = 64

# JSON escapes every other character that breaks a line: no output can begin one that reads as a heading.
_LINE_BREAKS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


@dataclass(frozen=True)
class PlainMessage:
    """A message as every model understands it."""

    role: Literal["system", "user", "assistant"]
    text: str


def flatten(messages: Sequence[Message]) -> tuple[PlainMessage, ...]:
    """Give a conversation to a model that is offered no tools; the outcomes of one turn are one message."""
    return tuple(_flatten(messages))


def _flatten(messages: Sequence[Message]) -> Iterator[PlainMessage]:
    outcomes: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            outcomes.append(_outcome(message, call=len(outcomes) + 1))
            continue
        if outcomes:
            yield PlainMessage("user", "\n\n".join(outcomes))
            outcomes = []
        match message:
            case SystemMessage():
                yield PlainMessage("system", _instructions(message))
            case UserMessage(text=text):
                yield PlainMessage("user", text)
            case AssistantMessage():
                # Providers refuse an empty message, and there is nothing in it to be reminded of.
                if text := _reply(message):
                    yield PlainMessage("assistant", text)
    if outcomes:
        yield PlainMessage("user", "\n\n".join(outcomes))


def _instructions(system: SystemMessage) -> str:
    parts = [system.text, tool_section(system.tools)]
    if system.tools:
        parts.append(REPLY_FORMAT)
    return "\n\n".join(parts)


def _outcome(message: ToolMessage, *, call: int) -> str:
    tool = " ".join(message.tool.split())[:_HEADING_CHARACTERS]
    return f"### {tool} (call {call})\n{envelope(message.outcome).translate(_LINE_BREAKS)}"


def _reply(message: AssistantMessage) -> str:
    if not message.tool_calls:
        return message.text
    calls = encode_json(
        {
            "reasoning": message.reasoning,
            "tool_calls": [{"tool": call.tool, "params": call.params} for call in message.tool_calls],
        }
    )
    return f"{message.text}\n\n{calls}" if message.text else calls
