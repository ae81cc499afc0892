"""Conversations as a run makes them, for the laws of what makes them smaller."""

from collections.abc import Sequence

from hypothesis import settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.conversation import AssistantMessage, Message, SystemMessage, ToolCall, ToolMessage, UserMessage
from surefoot.outcome import Outcome, ToolFailure, ToolSuccess
from tests.surefoot.arbitrary import FAILURES, JSON_VALUES

FEW = settings(max_examples=40)
"""Whole conversations take a while to make."""

OPENING: tuple[Message, ...] = (SystemMessage(text="You are careful."), UserMessage(text="Do it."))


def turn(number: int, *outcomes: Outcome, text: str = "") -> tuple[Message, ...]:
    calls = [ToolCall(id=f"{number}-{n}", tool="t", params={}) for n, _ in enumerate(outcomes, 1)]
    results = [
        ToolMessage(call_id=call.id, tool="t", outcome=one) for call, one in zip(calls, outcomes, strict=True)
    ]
    return AssistantMessage(text=text, tool_calls=tuple(calls)), *results


def success(size: int) -> ToolSuccess:
    return ToolSuccess(tool="t", result="x" * size)


def _long(text: str, times: int) -> str:
    return f"{text} é🙂\x00" * times


def _large_success(value: JsonValue, times: int) -> ToolSuccess:
    return ToolSuccess(tool="t", result={"out": _long(str(value), times)})


def _large_failure(failure: ToolFailure, times: int) -> ToolFailure:
    return failure.model_copy(update={"stderr": _long(failure.stderr, times)})


_TIMES = st.integers(0, 400)
_SUCCESSES = st.one_of(
    st.builds(ToolSuccess, tool=st.just("t"), result=JSON_VALUES),
    st.builds(_large_success, JSON_VALUES, _TIMES),
)
_FAILURES = st.builds(_large_failure, FAILURES, _TIMES)
_OUTCOMES: st.SearchStrategy[ToolSuccess | ToolFailure] = st.one_of(_SUCCESSES, _FAILURES)
_BETWEEN: st.SearchStrategy[list[Message]] = st.lists(
    st.builds(UserMessage, text=st.text(max_size=50), purpose=st.sampled_from(["prompt", "warning"])),
    max_size=1,
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """A conversation of up to eight turns, each with up to three calls and perhaps a message after it."""
    messages: list[Message] = [*OPENING, *draw(_BETWEEN)]
    for number in range(draw(st.integers(0, 8))):
        outcomes = draw(st.lists(_OUTCOMES, max_size=3))
        messages += [*turn(number, *outcomes, text=draw(st.text(max_size=200))), *draw(_BETWEEN)]
    return tuple(messages)


def pairs(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The calls, each with the outcome that follows it; fails if there is not exactly one for each."""
    found: list[tuple[str, str]] = []
    waiting: list[str] = []
    for message in messages:
        match message:
            case AssistantMessage(tool_calls=calls):
                assert not waiting
                waiting = [call.id for call in calls]
            case ToolMessage(call_id=call_id):
                found.append((waiting.pop(0), call_id))
            case _:
                assert not waiting
    assert not waiting
    return found
