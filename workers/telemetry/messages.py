"""Messages as the conventions for generative AI write them into attributes."""

from collections.abc import Sequence

from pydantic import JsonValue

from surefoot.conversation import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.masking import Masks, masked, shown_text, shown_value
from surefoot.redaction import REDACTED
from surefoot.strict_json import encode_json


def messages_json(messages: Sequence[Message], masks: Masks) -> str:
    """Give messages as JSON text: a list of roles with their parts, masked as people are shown them."""
    return encode_json([{"role": message.role, "parts": _parts(message, masks)} for message in messages])


def _parts(message: Message, masks: Masks) -> list[JsonValue]:
    match message:
        case UserMessage(purpose="approval") if masks:
            # It holds the params that somebody has put in place of the model's.
            return [_text(REDACTED)]
        case SystemMessage(text=text) | UserMessage(text=text):
            return [_text(text)]
        case AssistantMessage(text=text, tool_calls=calls):
            asked: list[JsonValue] = [
                {"type": "tool_call", "id": call.id, "name": call.tool, "arguments": _arguments(call, masks)}
                for call in calls
            ]
            return [_text(text), *asked] if text else asked
        case ToolMessage(call_id=call_id, tool=tool, outcome=outcome):
            # It may quote hidden arguments, which nobody knows here: the span of the call has it.
            hides = tool in masks
            response: JsonValue = REDACTED if hides else shown_value(outcome.model_dump(mode="json"))
            return [{"type": "tool_call_response", "id": call_id, "response": response}]


def _arguments(call: ToolCall, masks: Masks) -> JsonValue:
    return shown_value(masked(call.params, masks.get(call.tool, ())))


def _text(text: str) -> JsonValue:
    return {"type": "text", "content": shown_text(text, ())}
