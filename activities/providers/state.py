"""What only the provider can read of a reply: signatures and ids, kept beside the text they belong to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import JsonValue, ValidationError
from pydantic_ai.messages import ModelResponsePart, TextPart, ThinkingPart, ToolCallPart

from surefoot.conversation import AssistantMessage
from surefoot.model_text import scrub_json_text
from surefoot.strict_json import NotStrictJsonError, strict_json
from surefoot.wire import WireModel

# pydantic-ai's id of reasoning that stood between tags in the text; it is nothing that a provider asks for.
_TAGGED = "content"


class KeptPart(WireModel):
    """One part of a reply: where its content stands in the message, and what goes back with it."""

    kind: Literal["reasoning", "text", "call"]
    start: int = 0
    length: int = 0
    id: str | None = None
    signature: str | None = None
    details: dict[str, JsonValue] | None = None

    @property
    def opaque(self) -> bool:
        """Whether there is anything in it that the message itself does not say."""
        return bool(self.signature or self.details or (self.id and self.id != _TAGGED))


class ProviderState(WireModel):
    """The parts of one reply in the provider's own order."""

    parts: tuple[KeptPart, ...]


def keep(parts: Sequence[KeptPart]) -> JsonValue:
    """Give the state that travels with a message; None when the message says it all."""
    if not any(part.opaque for part in parts):
        return None
    state = ProviderState(parts=tuple(parts)).model_dump(exclude_defaults=True)
    try:
        return strict_json(scrub_json_text(json.dumps(state)))
    except (NotStrictJsonError, RecursionError):
        return None


def kept_details(details: Mapping[str, Any] | None) -> dict[str, JsonValue] | None:
    """Give a part's details if they are JSON."""
    try:
        return cast(dict[str, JsonValue], json.loads(json.dumps(details))) if details else None
    except (TypeError, ValueError, RecursionError):
        return None


def restore(reply: AssistantMessage, calls: Sequence[ToolCallPart]) -> list[ModelResponsePart]:
    """Rebuild a reply as its provider gave it; empty when there is no state that fits."""
    if reply.provider_state is None:
        return []
    try:
        state = ProviderState.model_validate(reply.provider_state)
    except ValidationError:
        return []
    remaining = list(calls)
    restored: list[ModelResponsePart] = []
    for part in state.parts:
        if part.kind == "call":
            if not remaining:
                return []
            restored.append(_call(remaining.pop(0), part, reply.provider))
        elif part.kind == "text" or part.opaque:
            restored.append(_written(part, reply))
    return [] if remaining else restored


def _call(call: ToolCallPart, part: KeptPart, provider: str | None) -> ToolCallPart:
    return ToolCallPart(
        tool_name=call.tool_name,
        args=call.args,
        tool_call_id=call.tool_call_id,
        id=part.id,
        provider_name=provider if part.opaque else None,
        provider_details=part.details,
    )


def _written(part: KeptPart, reply: AssistantMessage) -> TextPart | ThinkingPart:
    source = reply.text if part.kind == "text" else reply.reasoning
    content = source[part.start : part.start + part.length]
    provider = reply.provider if part.opaque else None
    if part.kind == "text":
        return TextPart(content=content, id=part.id, provider_name=provider, provider_details=part.details)
    return ThinkingPart(
        content=content,
        id=part.id,
        signature=part.signature,
        provider_name=provider,
        provider_details=part.details,
    )
