from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from activities.interface import LlmTurnResult
from activities.model import (
    ModelContextOverflowError,
    ModelKeyMissingError,
    ModelRefusedError,
    ModelUnavailableError,
)
from activities.summaries import Summarizer
from surefoot.conversation import AssistantMessage, Message, SystemMessage, UserMessage
from surefoot.summarising import Split, summarised
from surefoot.usage import Usage
from tests.surefoot.conversations import success, turn


@dataclass
class Writer:
    """A model that writes these summaries one after the other; an exception among them is raised."""

    replies: Sequence[AssistantMessage | Exception | str]
    asked: list[str] = field(default_factory=list[Any])

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        system, request = messages
        assert isinstance(system, SystemMessage)
        assert (system.tools, closing) == ((), False)
        assert isinstance(request, UserMessage)
        reply = self.replies[len(self.asked)]
        self.asked.append(request.text)
        if isinstance(reply, Exception):
            raise reply
        message = AssistantMessage(text=reply) if isinstance(reply, str) else reply
        return LlmTurnResult(
            reply=message, usage=Usage(requests=1, input_tokens=9, output_tokens=1), model_name="writer"
        )


OLDER = tuple(message for n in range(8) for message in turn(n, success(3_000), text=f"I look {n}."))
BARE = "No summary could be written"


async def written(
    *replies: AssistantMessage | Exception | str, room_bytes: int = 100_000
) -> tuple[str, Writer]:
    writer = Writer(replies)
    summary = await Summarizer(writer, "Look.", room_bytes).summary(OLDER)
    assert summary.usage.requests == sum(not isinstance(reply, Exception) for reply in writer.replies)
    return summary.text, writer


async def test_a_summary_is_asked_for_once_where_everything_fits() -> None:
    text, writer = await written(" It looked. ")
    assert text == "It looked."
    assert [f"I look {n}." in writer.asked[0] for n in range(8)] == [True] * 8


async def test_portions_are_summarised_one_after_the_other_each_with_the_summary_before() -> None:
    text, writer = await written("One.", "Two.", "Three.", room_bytes=10_000)
    assert text == "Three."
    assert ["One." in asked for asked in writer.asked] == [False, True, False]
    assert "part 2 of 3" in writer.asked[1]


async def test_a_portion_that_is_too_long_is_halved() -> None:
    overflow = ModelContextOverflowError("too long")
    text, writer = await written(overflow, overflow, "One.", "Two.", room_bytes=60_000)
    assert (text, len(writer.asked)) == ("Two.", 4)


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param([ModelRefusedError("a content filter")], id="a refusal"),
        pytest.param([AssistantMessage(unreadable="cut off")], id="a reply that cannot be read"),
        pytest.param(["  "], id="nothing said"),
        pytest.param([ModelContextOverflowError("too long")] * 5, id="nothing that fits"),
    ],
)
async def test_without_a_models_summary_there_is_a_bare_one(
    replies: list[AssistantMessage | Exception | str],
) -> None:
    text, _ = await written(*replies)
    assert text.startswith(BARE)
    assert "- t answered 8 times" in text
    assert text.endswith("What you said last in them: I look 7.")


@pytest.mark.parametrize(
    "error",
    [ModelUnavailableError("overloaded"), ModelKeyMissingError("no key")],
    ids=lambda error: str(error),
)
async def test_what_time_may_heal_is_tried_again_by_whoever_asked(error: Exception) -> None:
    with pytest.raises(type(error)):
        await written(error)


async def test_a_summary_that_is_far_too_long_is_cut() -> None:
    text, _ = await written("x" * 100_000)
    assert 20_000 < len(text) < 33_000
    assert "[a part of the summary is left out]" in text


async def test_bare_summaries_of_bare_summaries_stay_short() -> None:
    older: tuple[Message, ...] = OLDER
    for _ in range(5):
        refusing = Summarizer(Writer([ModelRefusedError("no")]), "Look.", 4_000)
        text = (await refusing.summary(older)).text
        told = summarised(Split((), older, ()), text)
        older = (*told, *turn(9, success(10), text="word " * 1_000))
        assert len(text.encode()) <= 2_048
