"""What the tests of the provider models share: a conversation, and a way to ask for its next reply."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from activities.interface import LlmTurnResult
from activities.providers.opening import open_provider_model
from activities.providers.settings import ProviderSettings
from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from surefoot.definition import ToolDefinition
from surefoot.outcome import Outcome, ToolSuccess
from surefoot.run import Protocol
from tests.activities.openai_server import ModelServer, Reply

CHAT = "openai-chat:test-model"
RESPONSES = "openai:test-model"
ANTHROPIC = "anthropic:test-model"
STREAMED = "anthropic:claude-sonnet-5-5"
"""A model whose output limit is so high that pydantic-ai streams its replies."""


class Whole(str):
    """The name of a model that is asked for its replies as a whole, and not in pieces."""

    __slots__ = ()


IN_PIECES = (CHAT, RESPONSES, ANTHROPIC)
AS_A_WHOLE = (Whole(CHAT), Whole(RESPONSES), Whole(ANTHROPIC), Whole(STREAMED))
EVERY_PROTOCOL = (*IN_PIECES, *AS_A_WHOLE)

SECRET = "sk-test-0123456789abcdef"

BASH = ToolDefinition(
    name="bash",
    description="Run a command.",
    input_schema={
        "type": "object",
        "properties": {"command": {"type": "string", "minLength": 1}, "timeout": {"type": "integer"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)
SYSTEM = SystemMessage(text="You are careful.", tools=(BASH,))
PROMPT = UserMessage(text="List the files.")
CALL = ToolCall(id="call_1_1", tool="bash", params={"command": "ls"})
ANSWER = ToolSuccess(tool="bash", result={"stdout": "a\n"})


def settings(
    server: ModelServer, *, request_timeout: timedelta = timedelta(seconds=20), streaming: bool = True
) -> ProviderSettings:
    return ProviderSettings(
        openai_api_key=SECRET,
        openai_base_url=server.openai_url,
        anthropic_api_key=SECRET,
        anthropic_base_url=server.anthropic_url,
        streaming=streaming,
        request_timeout=request_timeout,
    )


async def ask(
    server: ModelServer,
    messages: Sequence[Message] = (SYSTEM, PROMPT),
    *,
    model: str = CHAT,
    protocol: Protocol = "native",
    closing: bool = False,
    request_timeout: timedelta = timedelta(seconds=20),
) -> LlmTurnResult:
    known = settings(server, request_timeout=request_timeout, streaming=not isinstance(model, Whole))
    opened = open_provider_model(model, protocol=protocol, settings=known)
    try:
        return await opened.reply(messages, closing=closing)
    finally:
        await opened.close()


def after_one_turn(reply: AssistantMessage, *outcomes: Outcome) -> list[Message]:
    answered = zip(reply.tool_calls, outcomes, strict=True)
    results = [ToolMessage(call_id=call.id, tool=call.tool, outcome=outcome) for call, outcome in answered]
    return [SYSTEM, PROMPT, reply, *results]


async def body_of(*messages: Message, model: str = CHAT, closing: bool = False) -> dict[str, Any]:
    with ModelServer(Reply(text="Done.")) as server:
        await ask(server, messages or (SYSTEM, PROMPT), model=model, closing=closing)
        return server.requests[0].body


def tool_results(body: dict[str, Any]) -> list[str]:
    match body:
        case {"input": items}:
            return [item["output"] for item in items if item.get("type") == "function_call_output"]
        case {"system": _, "messages": messages}:
            blocks = [block for message in messages for block in message["content"]]
            return [block["content"][0]["text"] for block in blocks if block["type"] == "tool_result"]
        case _:
            return [message["content"] for message in body["messages"] if message["role"] == "tool"]
