import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from pydantic import JsonValue
from temporalio.client import Client
from temporalio.common import RawValue

from activities.interface import LlmTurnResult
from surefoot.conversation import AssistantMessage, Conversation, Message, ToolCall
from surefoot.events import ContextCompacted
from surefoot.summarising import count_turns
from surefoot.usage import Usage
from tests.workflows.agents import serving, start, tool
from tests.workflows.test_chain import events_of_chain
from tests.workflows.test_window import is_summary_request

TURNS = 160
WINDOW_TOKENS = 128_000
BYTES_PER_TOKEN = 4


@dataclass
class Caching:
    """A model that looks TURNS times, and has the beginning of a request cached if it was asked it before."""

    sizes: list[int] = field(default_factory=list[int])
    before: Sequence[Message] = ()

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        size = Conversation().append(*messages).size_bytes
        self.sizes.append(size)
        known = Conversation().append(*_shared(self.before, messages)).size_bytes
        if is_summary_request(messages):
            reply = AssistantMessage(text="It looked at everything, and found nothing wrong. " * 80)
        else:
            self.before = messages
            turn = 1 + count_turns(messages)
            call = ToolCall(id="1", tool="look", params={"n": turn})
            reply = AssistantMessage(text="Done.") if turn == TURNS else AssistantMessage(tool_calls=(call,))
        usage = Usage(
            requests=1,
            input_tokens=size // BYTES_PER_TOKEN,
            cache_read_tokens=known // BYTES_PER_TOKEN,
            output_tokens=50,
        )
        return LlmTurnResult(reply=reply, usage=usage, model_name="caching", context_window=WINDOW_TOKENS)


def _shared(one: Sequence[Message], other: Sequence[Message]) -> Sequence[Message]:
    pairs = zip(one, other, strict=False)
    length = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
    return other[:length]


@pytest.mark.long
async def test_a_conversation_of_megabytes_completes_within_its_window(client: Client) -> None:
    async def look(_: RawValue) -> JsonValue:
        return "word " * 4_000

    model = Caching()
    async with asyncio.timeout(280), serving(client, model, [tool("look", look)]) as queue:
        handle = await start(client, queue, limits={"max_turns": TURNS + 1})
        result = await handle.result()
        events = await events_of_chain(handle, client)

    compactions = [event for event in events if isinstance(event, ContextCompacted)]
    shortened = sum(event.results_shortened for event in compactions)
    summarised = sum(event.turns_summarised for event in compactions)
    told = (
        f"{result.tool_executions * 20_000:,} bytes of results, largest request {max(model.sizes):,}, "
        f"{len(compactions)} compactions, {shortened} results shortened, {summarised} turns summarised, "
        f"input tokens {result.usage.input_tokens:,}, of them cached {result.usage.cache_read_tokens:,}"
    )
    assert (result.status, result.turns) == ("completed", TURNS)
    assert max(model.sizes) <= WINDOW_TOKENS * BYTES_PER_TOKEN, told
    assert result.usage.cache_read_tokens > 0.8 * result.usage.input_tokens, told
