"""Talking to a run that is at work: what was taken is told to the model, and what is not is refused."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RawValue
from temporalio.service import RPCError, RPCStatusCode

from activities.interface import LlmTurnResult
from surefoot.conversation import Message, UserMessage
from surefoot.events import MessageReceived
from surefoot.usage import Usage
from tests.workflows.agents import (
    Replies,
    Silent,
    answer,
    calls,
    events_of,
    finish,
    says,
    serving,
    start,
    tool,
    until_event,
    until_history_holds,
)
from tests.workflows.operators import send
from tests.workflows.test_chain import EVERY_TURN, chain_of, events_of_chain


async def refusal(run: WorkflowHandle[Any, Any], text: str) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await send(run, text)
    return str(refused.value.cause)


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, UserMessage)]


class Gate:
    """A tool that answers when it is let."""

    def __init__(self) -> None:
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def act(self, _: RawValue) -> JsonValue:
        self.began.set()
        await self.go.wait()
        return "opened"


async def test_a_message_that_comes_while_tools_run_is_told_before_the_next_turn(client: Client) -> None:
    gate, model = Gate(), Replies([calls(("x", {})), says("Done.")])
    async with asyncio.timeout(20), serving(client, model, [tool("x", gate.act)]) as queue:
        run = await start(client, queue)
        await gate.began.wait()
        await send(run, "Look in /srv, too.", "Ada")
        await send(run, "And hurry.")
        gate.go.set()
        finished = await finish(run)

    told = [UserMessage(text=text, purpose="message") for text in ("Look in /srv, too.", "And hurry.")]
    assert [*model.asked[1][0]][-2:] == told
    assert [message.role for message in finished.messages[2:]] == [
        "assistant",
        "tool",
        "user",
        "user",
        "assistant",
    ]
    received = [event for event in finished.events if isinstance(event, MessageReceived)]
    assert [(event.text, event.sender) for event in received] == [
        ("Look in /srv, too.", "Ada"),
        ("And hurry.", None),
    ]


class Answering:
    """A model that answers at once what it is asked, when it is let."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.asking, self.go = asyncio.Event(), asyncio.Event()

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        self.asked.append(texts(messages))
        self.asking.set()
        await self.go.wait()
        return LlmTurnResult(reply=says(f"Answer {len(self.asked)}."), usage=Usage(), model_name="answering")


async def test_an_answer_does_not_end_a_run_that_a_message_waits_for(client: Client) -> None:
    model = Answering()
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue)
        await model.asking.wait()
        await send(run, "One thing more.")
        model.go.set()
        finished = await finish(run)

    assert (finished.result.answer, finished.result.turns) == ("Answer 2.", 2)
    assert model.asked == [["Do it."], ["Do it.", "One thing more."]]


async def test_messages_may_come_before_a_run_has_begun(client: Client) -> None:
    model = Replies([says("Done.")])
    run = await start(client, queue := "nobody-yet-send-message")
    sending = asyncio.create_task(send(run, "Early."))
    async with asyncio.timeout(20):
        async with serving(client, model, queue=queue):
            await sending
            finished = await finish(run)

    assert finished.events[0].type == "run_started"
    assert texts(finished.messages) == ["Do it.", "Early."]


async def test_a_run_that_closes_takes_no_more_messages(client: Client) -> None:
    class Closing(Answering):
        async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
            if closing:
                return await super().reply(messages, closing=closing)
            return LlmTurnResult(reply=calls(("look", {})), usage=Usage(), model_name="closing")

    model = Closing()
    async with asyncio.timeout(20), serving(client, model, [tool("look", answer)]) as queue:
        run = await start(client, queue, limits={"max_turns": 1})
        await model.asking.wait()
        refused = await refusal(run, "Wait!")
        model.go.set()
        finished = await finish(run)

    assert refused == "REFUSED: the run is closing: its model was told to answer with what it has"
    assert (finished.result.status, len(texts(finished.messages))) == ("limit_reached", 2)


async def test_a_message_is_told_before_the_text_that_closes_the_run(client: Client) -> None:
    gate, model = Gate(), Replies([calls(("x", {})), says("What I have.")])
    async with asyncio.timeout(20), serving(client, model, [tool("x", gate.act)]) as queue:
        run = await start(client, queue, limits={"max_turns": 1})
        await gate.began.wait()
        await send(run, "Tell me all.")
        gate.go.set()
        finished = await finish(run)

    told = [message.purpose for message in finished.messages if isinstance(message, UserMessage)]
    assert (told, finished.result.answer) == (["prompt", "message", "closing"], "What I have.")


async def test_a_run_that_is_being_cancelled_or_has_ended_takes_no_messages(client: Client) -> None:
    gate, model = Gate(), Replies([calls(("x", {}))])
    async with asyncio.timeout(30), serving(client, model, [tool("x", gate.act)]) as queue:
        run = await start(client, queue)
        await gate.began.wait()
        await run.cancel()
        await until_history_holds(run, EventType.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED)
        refused = await refusal(run, "Stop?")
        gate.go.set()
        with pytest.raises(WorkflowFailureError):
            await run.result()
        with pytest.raises(RPCError) as too_late:
            await send(run, "Hello?")

    assert refused == "REFUSED: the whole run is being cancelled"
    assert too_late.value.status is RPCStatusCode.NOT_FOUND


async def test_what_a_run_refuses_is_not_in_its_ledger(client: Client) -> None:
    async with asyncio.timeout(20), serving(client, Silent()) as queue:
        run = await start(client, queue)
        refused = await refusal(run, " ")
        await until_event(run, "turn_started")
        events = await events_of(run)
        await run.terminate()

    assert refused == "REFUSED: the message is empty"
    assert [event.type for event in events] == ["run_started", "turn_started"]


@pytest.mark.long
async def test_every_message_of_a_chain_is_told_once_and_in_order(client: Client) -> None:
    """Two talk while the run continues as new with each turn."""
    looking = Replies([*[calls(("look", {}))] * 5, *[says("Done.")] * 200])
    sent: list[list[str]] = [[], []]

    async def talk(run: WorkflowHandle[Any, Any], sender: int) -> None:
        while len(sent[sender]) < 4:
            text = f"{sender}: {len(sent[sender])}"
            try:
                await send(run, text)
            except WorkflowUpdateFailedError as refused:
                assert "continues as new at this moment" in str(refused.cause)  # noqa: PT017
                continue
            sent[sender].append(text)

    async with asyncio.timeout(60), serving(client, looking, [tool("look", answer)]) as queue:
        run = await start(client, queue, chain=EVERY_TURN, limits={"max_turns": 200})
        await asyncio.gather(*(talk(run, sender) for sender in range(2)))
        result = await run.result()
        chain = await chain_of(run, client)
        events = await events_of_chain(run, client)

    told = texts(looking.asked[-1][0])[1:]
    assert [[text for text in told if text.startswith(f"{n}:")] for n in range(2)] == sent
    assert [event.text for event in events if isinstance(event, MessageReceived)] == told
    assert (result.status, len(chain) > 4) == ("completed", True)


@pytest.mark.parametrize("senders", range(1, 7))
async def test_no_message_is_taken_and_forgotten_when_it_comes_at_the_end(
    client: Client, senders: int
) -> None:
    """They come just when the model answers: each is either told to the model, or not taken."""
    model = Answering()
    taken: list[str] = []

    async def talk(run: WorkflowHandle[Any, Any], sender: int) -> None:
        await model.go.wait()
        for n in range(1, 4):
            try:
                await send(run, text := f"{sender}: {n}")
            except (RPCError, WorkflowUpdateFailedError):
                return
            taken.append(text)

    async with asyncio.timeout(30), serving(client, model) as queue:
        run = await start(client, queue)
        talking = [asyncio.create_task(talk(run, sender)) for sender in range(senders)]
        await model.asking.wait()
        model.go.set()
        await asyncio.gather(*talking)
        finished = await finish(run)

    assert sorted(texts(finished.messages)[1:]) == sorted(taken)
    assert finished.result.answer == f"Answer {len(model.asked)}."
