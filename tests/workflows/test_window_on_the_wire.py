import asyncio
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client
from temporalio.common import RawValue

from activities.providers.opening import open_provider_model
from surefoot.events import ContextCompacted
from surefoot.run import Protocol
from tests.activities.openai_server import Call, ModelServer, Raw, Reply
from tests.activities.providers.asking import ANTHROPIC, CHAT, RESPONSES, settings
from tests.workflows.agents import Finished, finish, serving, start, tool

pytestmark = pytest.mark.slow

TOO_LONG = Raw(
    400,
    {"error": {"type": "invalid_request_error", "message": "prompt is too long: 9000 tokens > 8000 maximum"}},
)
LOOK = Reply(calls=(Call("look", {}), Call("look", {})), reasoning="Hm.")
WRITTEN = Reply(text='{"reasoning": "r", "tool_calls": [{"tool": "look", "params": {}}]}')


async def large(_: RawValue) -> JsonValue:
    return "x" * 12_000


async def run(client: Client, server: ModelServer, model: str, protocol: Protocol) -> Finished:
    opened = open_provider_model(model, protocol=protocol, settings=settings(server))
    try:
        async with asyncio.timeout(40), serving(client, opened, [tool("look", large)]) as queue:
            return await finish(await start(client, queue, model=model, protocol=protocol))
    finally:
        await opened.close()


def said(body: dict[str, Any]) -> str:
    return str(body.get("messages") or body["input"])


@pytest.mark.parametrize(
    ("model", "protocol", "asking"),
    [
        pytest.param(CHAT, "native", LOOK, id="OpenAI's chat"),
        pytest.param(RESPONSES, "native", LOOK, id="OpenAI's responses", marks=pytest.mark.long),
        pytest.param(ANTHROPIC, "native", LOOK, id="Anthropic"),
        pytest.param(CHAT, "prompted", WRITTEN, id="calls written as text", marks=pytest.mark.long),
    ],
)
async def test_a_conversation_that_a_provider_refuses_is_summarised_and_asked_again(
    client: Client, model: str, protocol: Protocol, asking: Reply
) -> None:
    answers = [*[asking] * 5, TOO_LONG, Reply(text="It looked five times."), Reply(text="Done.")]
    with ModelServer(*answers) as server:
        finished = await run(client, server, model, protocol)
        bodies = [request.body for request in server.requests]

    assert (finished.result.answer, finished.result.turns) == ("Done.", 6)
    (compacted,) = [event for event in finished.events if isinstance(event, ContextCompacted)]
    assert (compacted.reason, compacted.turns_summarised) == ("overflow", 4)
    refused, summary, again = bodies[5:]
    assert "Write the summary of the conversation above" in said(summary)
    assert not summary.get("tools")
    assert "It looked five times." in said(again)
    assert len(said(again)) < len(said(refused)) / 2
    # The kept turn: its calls, and an outcome for each.
    assert said(again).count("x" * 12_000) == len(asking.calls or (1,))
    assert {key: again[key] for key in again.keys() - {"messages", "input"}} == {
        key: refused[key] for key in refused.keys() - {"messages", "input"}
    }
