import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from activities.conversation_cache import ConversationCache
from activities.interface import LlmTurnResult
from activities.scripted.model import ScriptedModel
from activities.scripted.script import parse_script
from surefoot.conversation import AssistantMessage, Conversation, Message, SystemMessage, UserMessage
from surefoot.events import ContextCompacted, TurnStarted
from tests.surefoot.conversations import pairs
from tests.workflows.agents import Finished, events_of, finish, serving, start, tool

pytestmark = pytest.mark.slow


@dataclass
class Scripted:
    """A scripted model that remembers what it was asked."""

    text: str
    asked: list[Sequence[Message]] = field(default_factory=list[Any])

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        self.asked.append(messages)
        script = parse_script(self.text.encode(), file="talk.yaml")
        return await ScriptedModel(script).reply(messages, closing=closing)

    @property
    def turns(self) -> list[Sequence[Message]]:
        return [messages for messages in self.asked if not is_summary_request(messages)]


def is_summary_request(messages: Sequence[Message]) -> bool:
    last = messages[-1]
    return isinstance(last, UserMessage) and last.purpose == "summary"


def size_of(messages: Sequence[Message]) -> int:
    return Conversation().append(*messages).size_bytes


def talk(turns: int, more: str) -> str:
    return (
        f"steps:\n- call: [{{look: {{}}}}]\n  repeat: {turns - 1}\n- say: Done.\n"
        f"summary: {{say: It looked.}}\n{more}\n"
    )


async def large(_: RawValue) -> JsonValue:
    return "x" * 3_000


async def run(client: Client, model: Scripted, **settings: Any) -> Finished:  # noqa: ANN401
    async with asyncio.timeout(60), serving(client, model, [tool("look", large)]) as queue:
        return await finish(await start(client, queue, **settings))


def compactions(finished: Finished) -> list[ContextCompacted]:
    return [event for event in finished.events if isinstance(event, ContextCompacted)]


async def test_a_conversation_stays_within_a_known_window_and_is_seldom_rewritten(client: Client) -> None:
    model = Scripted(talk(25, "context_window: 10000"))

    finished = await run(client, model, limits={"max_turns": 100})

    assert (finished.result.status, finished.result.turns) == ("completed", 25)
    # 10,000 tokens are 30,000 bytes where nobody counts, and four fifths of them are 24,000.
    assert max(size_of(messages) for messages in model.turns) <= 24_000
    rewritten = compactions(finished)
    assert 3 <= len(rewritten) <= 6
    assert {event.reason for event in rewritten} == {"full"}
    assert sum(event.results_shortened for event in rewritten) > 0
    assert sum(event.turns_summarised for event in rewritten) > 0
    # Each summary is paid for like any turn.
    assert finished.result.usage.requests == len(model.asked) > len(model.turns)
    assert all(event.bytes_after <= 16_000 < 22_000 < event.bytes_before for event in rewritten)


async def test_each_turn_is_given_whole_turns_after_the_system_prompt_and_the_first_prompt(
    client: Client,
) -> None:
    model = Scripted(talk(20, "context_window: 5000"))

    await run(client, model, prompt="Look often.", limits={"max_turns": 100})

    for messages in model.turns:
        system, prompt, *rest = messages
        assert isinstance(system, SystemMessage)
        assert prompt == UserMessage(text="Look often.")
        pairs(rest)
    last = model.turns[-1]
    summaries = [m for m in last if isinstance(m, UserMessage) and m.purpose == "summary"]
    assert len(summaries) == 1
    assert "It looked." in summaries[0].text
    replies = sum(isinstance(message, AssistantMessage) for message in last)
    assert summaries[0].summarised_turns + replies == 19


async def test_an_overflow_shortens_the_conversation_and_asks_the_same_turn_again(client: Client) -> None:
    model = Scripted(talk(12, "overflow: {above_bytes: 20000}"))

    finished = await run(client, model)

    assert (finished.result.status, finished.result.turns) == ("completed", 12)
    started = [event.turn for event in finished.events if isinstance(event, TurnStarted)]
    assert started == list(range(1, 13))
    assert {event.reason for event in compactions(finished)} == {"overflow"}
    # Where no window is known nothing is done until the provider says so.
    assert all(event.bytes_before > 20_000 for event in compactions(finished))
    refused = [messages for messages in model.turns if size_of(messages) > 20_000]
    assert len(refused) == len(compactions(finished)) <= 3


async def test_a_window_that_the_provider_tells_is_kept_from_then_on(client: Client) -> None:
    model = Scripted(talk(14, "overflow: {above_bytes: 20000, window_tokens: 6000}"))

    finished = await run(client, model)

    reasons = [event.reason for event in compactions(finished)]
    assert reasons[0] == "overflow"
    assert set(reasons[1:]) == {"full"}


async def test_what_cannot_be_made_to_fit_fails_the_run_with_a_sentence(client: Client) -> None:
    model = Scripted(talk(3, "overflow: {above_bytes: 2000}"))

    async with asyncio.timeout(30), serving(client, model, [tool("look", large)]) as queue:
        handle = await start(client, queue, prompt="x" * 5_000)
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        last = (await events_of(handle))[-1].model_dump()

    assert isinstance(failed.value.cause, ApplicationError)
    assert failed.value.cause.message.startswith(
        "nothing is left to shorten in a conversation that is too long: "
    )
    assert (last["status"], last["error"]) == ("failed", failed.value.cause.message)
    assert len(model.turns) <= 2


async def test_results_that_the_model_has_not_read_are_shortened_when_nothing_else_helps(
    client: Client,
) -> None:
    async def huge(_: RawValue) -> JsonValue:
        return "x" * 300_000

    model = Scripted(talk(3, "context_window: 20000"))
    async with asyncio.timeout(30), serving(client, model, [tool("look", huge)]) as queue:
        finished = await finish(await start(client, queue))

    assert finished.result.status == "completed"
    assert [event.results_shortened for event in compactions(finished)] == [1, 1]
    # Much of it is left, within half of the window.
    assert [15_000 < size_of(messages) < 30_000 for messages in model.turns[1:]] == [True, True]


async def test_a_large_conversation_goes_on_from_the_store_and_through_a_chain(client: Client) -> None:
    async def long(_: RawValue) -> JsonValue:
        return "x" * 60_000

    model = Scripted(talk(16, "context_window: 240000"))
    forgetful = ConversationCache(max_runs=0)
    served = serving(client, model, [tool("look", long)], cache=forgetful)
    async with asyncio.timeout(60), served as queue:
        handle = await start(client, queue, chain={"max_bytes": 500_000})
        result = await handle.result()

    assert (result.status, result.turns, result.tool_executions) == ("completed", 16, 15)
    assert max(size_of(messages) for messages in model.turns) <= 576_000
    assert any(size_of(messages) > 262_144 for messages in model.turns)


async def test_beside_a_prompt_that_nearly_fills_the_window_the_newest_results_stay_whole(
    client: Client,
) -> None:
    model = Scripted(talk(8, "context_window: 10000"))

    finished = await run(client, model, prompt="y" * 23_000)

    assert finished.result.status == "completed"
    assert max(size_of(messages) for messages in model.turns) <= 31_000
    newest = [messages[-1] for messages in model.turns[1:]]
    assert [message.model_dump()["outcome"]["result"] for message in newest] == ["x" * 3_000] * 7
