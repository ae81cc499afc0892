"""The conversation as pydantic-ai takes it."""

import re
from collections.abc import Sequence

from pydantic import JsonValue
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition as OfferedTool

from activities.providers.state import restore
from surefoot.conversation import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.definition import ToolDefinition
from surefoot.outcome import envelope
from surefoot.prompt import native_description
from surefoot.prompted import flatten
from surefoot.strict_json import encode_json

UNPARSED = "INVALID_JSON"
"""Under this key a provider gets back arguments that were no JSON object: many take nothing but objects."""

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARACTERS = 64


def native_messages(messages: Sequence[Message], *, provider: str) -> list[ModelMessage]:
    """Give a conversation to a provider that takes tools; signatures of its own go back to it, no other's."""
    collected = _Collected()
    for message in messages:
        match message:
            case SystemMessage(text=text):
                collected.ask(SystemPromptPart(content=text))
            case UserMessage(text=text):
                collected.ask(UserPromptPart(content=text))
            case ToolMessage(call_id=call_id, tool=tool, outcome=outcome):
                name, content = wire_name(tool), envelope(outcome)
                collected.ask(ToolReturnPart(tool_name=name, content=content, tool_call_id=call_id))
            case AssistantMessage():
                collected.reply(_reply_parts(message, provider), provider)
    return collected.messages


def prompted_messages(messages: Sequence[Message]) -> list[ModelMessage]:
    """Give a conversation as text alone."""
    collected = _Collected()
    for message in flatten(messages):
        match message.role:
            case "system":
                collected.ask(SystemPromptPart(content=message.text))
            case "user":
                collected.ask(UserPromptPart(content=message.text))
            case "assistant":
                collected.reply([TextPart(content=message.text)])
    return collected.messages


def offered_tools(messages: Sequence[Message]) -> ModelRequestParameters:
    """Offer the tools of the conversation's system message, their schemas as they are."""
    definitions = [
        tool for message in messages if isinstance(message, SystemMessage) for tool in message.tools
    ]
    return ModelRequestParameters(function_tools=[_offered(definition) for definition in definitions])


def wire_name(tool: str) -> str:
    """Give a tool's name as every provider takes it back, also where the model made one up."""
    return _NOT_IN_A_NAME.sub("_", tool)[:_NAME_CHARACTERS] or "_"


class _Collected:
    """Messages as they gather: all that is said between two replies is one request."""

    def __init__(self) -> None:
        self.messages: list[ModelMessage] = []

    def ask(self, part: ModelRequestPart) -> None:
        last = self.messages[-1] if self.messages else None
        if isinstance(last, ModelRequest):
            last.parts = [*last.parts, part]
        else:
            self.messages.append(ModelRequest(parts=[part]))

    def reply(self, parts: Sequence[ModelResponsePart], provider: str | None = None) -> None:
        if parts:
            self.messages.append(ModelResponse(parts=parts, provider_name=provider))


def _offered(definition: ToolDefinition) -> OfferedTool:
    return OfferedTool(
        name=definition.name,
        description=native_description(definition),
        parameters_json_schema=definition.input_schema,
        strict=False,
    )


def _reply_parts(reply: AssistantMessage, provider: str) -> Sequence[ModelResponsePart]:
    if reply.unreadable is not None:
        # Its calls were never made, and a signature over half a reply is refused.
        return [TextPart(content=reply.text)] if reply.text.strip() else []
    calls = [_call(call) for call in reply.tool_calls]
    if reply.provider == provider and (restored := restore(reply, calls)):
        return restored
    return [*([TextPart(content=reply.text)] if reply.text.strip() else []), *calls]


def _call(call: ToolCall) -> ToolCallPart:
    return ToolCallPart(tool_name=wire_name(call.tool), args=_arguments(call.params), tool_call_id=call.id)


def _arguments(params: JsonValue) -> dict[str, JsonValue]:
    match params:
        case dict():
            return params
        case str():
            return {UNPARSED: params}
        case _:
            return {UNPARSED: encode_json(params)}
