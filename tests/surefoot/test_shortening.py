from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.artifact import excerpt
from surefoot.conversation import AssistantMessage, Message, ToolMessage, message_bytes
from surefoot.failures import Captured, crashed
from surefoot.outcome import ToolSuccess, envelope
from surefoot.shortening import KEPT_TURNS, shortened
from tests.surefoot.conversations import FEW, OPENING, conversations, pairs, success, turn


def size_of(messages: Sequence[Message]) -> int:
    return sum(message_bytes(message) for message in messages)


def lengths(messages: Sequence[Message]) -> list[int]:
    outcomes = [message.outcome for message in messages if isinstance(message, ToolMessage)]
    return [len(str(outcome.result)) for outcome in outcomes if isinstance(outcome, ToolSuccess)]


def test_large_results_go_before_small_ones_and_old_before_new() -> None:
    sizes = [2_000, 40_000, 2_100, 39_000, 100]
    told = [message for n, size in enumerate(sizes) for message in turn(n, success(size))]
    target = size_of([*OPENING, *told]) - 79_000

    shorter = shortened([*OPENING, *told], target_bytes=target, keep_turns=0)

    assert lengths(shorter.messages) == [512, 512, 2_100, 512, 100]
    assert shorter.results_shortened == 3
    assert shorter.size_bytes == size_of(shorter.messages) <= target


def test_a_shortened_result_says_so_and_keeps_its_ends() -> None:
    success = ToolSuccess(tool="t", result={"stdout": "first" + "x" * 5_000 + "last"})
    messages = [*OPENING, *turn(1, success)]
    last = shortened(messages, target_bytes=0, keep_turns=0).messages[-1]
    assert isinstance(last, ToolMessage)
    assert isinstance(last.outcome, ToolSuccess)
    assert isinstance(last.outcome.result, str)
    head, _, tail = last.outcome.result.partition(
        " more bytes] ...\n[SHORTENED - the rest was left out to make room in the conversation]\n"
    )
    assert head.startswith('{"stdout": "firstxxx')
    assert tail.endswith('last"}')


def test_a_shortened_failure_keeps_its_code_and_what_it_said_last() -> None:
    failure = crashed("t", 3, Captured(stdout="o" * 9_000, stderr="e" * 9_000 + "why"))
    last = shortened([*OPENING, *turn(1, failure)], target_bytes=0, keep_turns=0).messages[-1]
    assert isinstance(last, ToolMessage)
    short = last.outcome
    assert short.model_dump(exclude={"stdout", "stderr"}) == failure.model_dump(exclude={"stdout", "stderr"})
    assert not isinstance(short, ToolSuccess)
    assert (len(short.stdout), len(short.stderr), short.stderr[-3:]) == (512, 512, "why")


@pytest.mark.parametrize("keep_turns", [1, KEPT_TURNS])
def test_the_newest_turns_stay_whole(keep_turns: int) -> None:
    told = [message for n in range(5) for message in turn(n, success(20_000))]
    shorter = shortened([*OPENING, *told], target_bytes=0, keep_turns=keep_turns)
    assert lengths(shorter.messages) == [512] * (5 - keep_turns) + [20_000] * keep_turns


def test_a_conversation_within_its_target_stays_as_it_is() -> None:
    messages = (*OPENING, *turn(1, success(9_000)))
    assert shortened(messages, target_bytes=10_000, keep_turns=0).messages == messages


@FEW
@given(messages=conversations(), target=st.integers(0, 10_000), keep_turns=st.integers(0, 4))
def test_shortening_keeps_everything_but_the_text_of_old_results(
    messages: tuple[Message, ...], target: int, keep_turns: int
) -> None:
    shorter = shortened(messages, target_bytes=target, keep_turns=keep_turns)

    replies = [at for at, m in enumerate(messages) if isinstance(m, AssistantMessage)]
    newest = messages[replies[-keep_turns] :] if 0 < keep_turns <= len(replies) else ()
    assert shorter.messages[len(messages) - len(newest) :] == newest
    assert pairs(shorter.messages) == pairs(messages)
    assert size_of(shorter.messages) == shorter.size_bytes <= size_of(messages)
    assert [m.model_dump(exclude={"outcome"}) for m in shorter.messages] == [
        m.model_dump(exclude={"outcome"}) for m in messages
    ]
    again = shortened(shorter.messages, target_bytes=target, keep_turns=keep_turns)
    assert (again.messages, again.results_shortened) == (shorter.messages, 0)


def test_what_is_left_of_an_excerpt_still_names_its_artifact() -> None:
    artifact = "run-1/12-1-abcdef/" + "a" * 80
    shown = excerpt('"' + "x" * 50_000 + '"', limit_bytes=10_240, artifact=artifact)
    messages = [*OPENING, *turn(1, ToolSuccess(tool="t", result=shown))]
    last = shortened(messages, target_bytes=0, keep_turns=0).messages[-1]
    assert isinstance(last, ToolMessage)
    assert message_bytes(last) < 1_000
    assert artifact in envelope(last.outcome)
