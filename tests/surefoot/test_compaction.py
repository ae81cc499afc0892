from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from surefoot.compaction import plan, shorten_newest
from surefoot.conversation import Message, ToolMessage, message_bytes
from surefoot.outcome import ToolSuccess
from tests.surefoot.conversations import FEW, OPENING, conversations, pairs, success, turn


def size_of(messages: Sequence[Message]) -> int:
    return sum(message_bytes(message) for message in messages)


def after(sizes: Sequence[int]) -> tuple[Message, ...]:
    return OPENING + tuple(message for n, size in enumerate(sizes) for message in turn(n, success(size)))


def lengths(messages: Sequence[Message]) -> list[int]:
    outcomes = [message.outcome for message in messages if isinstance(message, ToolMessage)]
    return [len(str(outcome.result)) for outcome in outcomes if isinstance(outcome, ToolSuccess)]


def test_shortening_old_results_is_enough_where_it_reaches_the_target() -> None:
    planned = plan(after([20_000] * 6), target_bytes=80_000)
    assert planned.split is None
    assert lengths(planned.shorter.messages) == [512, 512, 512, 20_000, 20_000, 20_000]


def test_what_is_to_be_summarised_has_its_results_whole() -> None:
    messages = after([20_000] * 6)
    planned = plan(messages, target_bytes=40_000)
    assert planned.split is not None
    assert planned.split.older == messages[2:12]
    assert planned.split.newest == messages[12:]


def test_of_results_that_nobody_has_read_much_is_left() -> None:
    shorter = shorten_newest(after([90_000, 90_000]), target_bytes=30_000)
    assert shorter.size_bytes <= 30_000
    assert min(lengths(shorter.messages)) > 7_000


@FEW
@given(messages=conversations(), target=st.integers(0, 20_000))
def test_a_plan_keeps_every_call_with_its_outcome(messages: tuple[Message, ...], target: int) -> None:
    planned = plan(messages, target_bytes=target)
    assert pairs(planned.shorter.messages) == pairs(messages)
    if planned.split is not None:
        assert planned.shorter.size_bytes > target
        start = len(planned.split.opening)
        assert planned.split.older == messages[start : start + len(planned.split.older)]
        pairs(planned.split.newest)


@FEW
@given(messages=conversations(), target=st.integers(0, 20_000))
def test_shortening_the_newest_never_makes_a_conversation_longer(
    messages: tuple[Message, ...], target: int
) -> None:
    shorter = shorten_newest(messages, target_bytes=target)
    assert size_of(shorter.messages) <= size_of(messages)
    assert pairs(shorter.messages) == pairs(messages)
