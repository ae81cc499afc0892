"""Messages as the conventions for generative AI write them into attributes."""

from collections.abc import Sequence

from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from surefoot.strict_json import encode_json


def messages_json(messages: Sequence[Message]) -> str:
    """Give messages as JSON text: a list of roles with their parts."""
    return encode_json([{"role": message.role, "parts": _parts(message)} for message in messages])


def _parts(message: Message) -> list[JsonValue]:
    match message:
        case SystemMessage(text=text) | UserMessage(text=text):
            return [_text(text)]
        case AssistantMessage(text=text, tool_calls=calls):
            asked: list[JsonValue] = [
                {"type": "tool_call", "id": call.id, "name": call.tool, "arguments": call.params}
                for call in calls
            ]
            return [_text(text), *asked] if text else asked
        case ToolMessage(call_id=call_id, outcome=outcome):
            response: JsonValue = outcome.model_dump(mode="json")
            return [{"type": "tool_call_response", "id": call_id, "response": response}]


def _text(text: str) -> JsonValue:
    return {"type": "text", "content": text}
