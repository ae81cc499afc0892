from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolCall, UserMessage
from surefoot.failures import timed_out
from surefoot.outcome import ToolSuccess
from surefoot.summarising import count_turns, split_for_summary, summarised, summary_bytes
from surefoot.summary_request import bare_summary, summary_request, transcripts
from tests.surefoot.conversations import FEW, OPENING, conversations, pairs, success, turn

TIMED_OUT = timed_out("t", timedelta(seconds=3))


def after(*turns: tuple[Message, ...]) -> tuple[Message, ...]:
    return OPENING + tuple(message for one in turns for message in one)


def test_the_newest_turns_that_fit_half_of_the_target_stay() -> None:
    turns = [turn(n, success(1_000)) for n in range(6)]
    split = split_for_summary(after(*turns), target_bytes=5_500)
    assert split is not None
    assert (split.opening, split.older, split.newest) == (
        OPENING,
        after(*turns[:4])[2:],
        after(*turns[4:])[2:],
    )


def test_the_newest_turn_stays_however_large_it_is() -> None:
    turns = [turn(1, success(10)), turn(2, success(100_000))]
    split = split_for_summary(after(*turns), target_bytes=100)
    assert split is not None
    assert split.newest == turns[1]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(OPENING, id="no turn"),
        pytest.param(after(turn(1, success(9_000))), id="one turn"),
        pytest.param(
            (*OPENING, UserMessage(text="…", purpose="summary"), *turn(9, success(9_000))),
            id="one turn after a summary",
        ),
        pytest.param(after(turn(1, success(1)), turn(2, success(1))), id="turns that fit"),
        pytest.param((), id="nothing"),
    ],
)
def test_without_older_turns_there_is_nothing_to_summarise(messages: tuple[Message, ...]) -> None:
    assert split_for_summary(messages, target_bytes=3_000) is None


def test_a_summary_stands_for_its_turns_and_for_those_of_the_summary_before() -> None:
    once = split_for_summary(after(*(turn(n, success(900)) for n in range(5))), target_bytes=100)
    assert once is not None
    said = summarised(once, "First.")
    twice = split_for_summary((*said, *turn(9, success(900))), target_bytes=100)
    assert twice is not None
    told = summarised(twice, "Second.")[2]
    assert isinstance(told, UserMessage)
    assert (told.purpose, told.summarised_turns) == ("summary", 5)
    assert told.text.startswith("To make room, 5 earlier turns of this conversation were replaced")
    assert told.text.endswith("\n\nSecond.")


def test_a_request_shows_what_happened_and_offers_no_tools() -> None:
    call = ToolCall(id="1", tool="write", params={"path": "a.txt"})
    spoken = AssistantMessage(text="I write it.", tool_calls=(call,))
    messages = after(
        turn(1, ToolSuccess(tool="t", result={"n": 7}), TIMED_OUT),
        (spoken, UserMessage(text="Stop soon.", purpose="warning")),
    )
    (transcript,) = transcripts(messages[2:], limit_bytes=9_000)
    system, asked = summary_request(
        prompt="Do it.", earlier="Once.", transcript=transcript, limit_bytes=1_024
    )

    assert isinstance(system, SystemMessage)
    assert system.tools == ()
    assert isinstance(asked, UserMessage)
    assert asked.purpose == "summary"
    wanted = [
        "# What the user asked at the beginning\n\nDo it.",
        "# The earlier summary\n\nOnce.",
        "The agent called t with:\n{}",
        '"n":7',
        "TOOL_TIMEOUT",
        "The agent:\nI write it.",
        'The agent called write with:\n{"path":"a.txt"}',
        "The runtime:\nStop soon.",
        "at most 128 words",
    ]
    text = asked.text.replace('": ', '":')
    assert [text.index(one) for one in wanted] == sorted(text.index(one) for one in wanted)


def test_a_bare_summary_counts_what_was_called_and_how_it_ended() -> None:
    older = (
        UserMessage(text="To make room, …\n\nIt began well.", purpose="summary", summarised_turns=2),
        *turn(1, success(5), TIMED_OUT, text="Two at once."),
        *turn(2, success(5)),
    )
    assert bare_summary(older) == (
        "It began well.\n\n"
        "No summary could be written of the turns after that. Their tool calls:\n\n"
        "- t answered 2 times\n- t failed with TOOL_TIMEOUT 1 time\n\n"
        "What you said last in them: Two at once."
    )


@FEW
@given(messages=conversations(), limit=st.integers(0, 30_000))
def test_transcripts_are_within_their_limit(messages: tuple[Message, ...], limit: int) -> None:
    assert all(len(text.encode()) <= max(limit, 4_096) for text in transcripts(messages, limit_bytes=limit))


@FEW
@given(messages=conversations(), target=st.integers(0, 20_000))
def test_a_summary_replaces_whole_turns_and_nothing_else(messages: tuple[Message, ...], target: int) -> None:
    split = split_for_summary(messages, target_bytes=target)
    if split is None:
        return
    assert split.opening + split.older + split.newest == messages
    assert split.opening == OPENING
    assert isinstance(split.newest[0], AssistantMessage)
    told = summarised(split, "S")
    assert pairs(told) == pairs(split.newest)
    assert pairs(split.older) + pairs(split.newest) == pairs(messages)
    assert count_turns(told) == count_turns(messages)


@given(target=st.integers(0, 10**9))
def test_a_summary_has_some_room_but_never_too_much(target: int) -> None:
    assert 1_024 <= summary_bytes(target) <= 16 * 1_024
