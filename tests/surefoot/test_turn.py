from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from surefoot.conversation import (
    AssistantMessage,
    Conversation,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits
from surefoot.outcome import ToolSuccess
from surefoot.turn import (
    CallModel,
    Finish,
    LimitReached,
    ModelUnreadable,
    RefuseTools,
    RunTools,
    Step,
    Tell,
    next_step,
)

SYSTEM, PROMPT = SystemMessage(text="s"), UserMessage(text="u")
CALL, OTHER_CALL = ToolCall(id="1", tool="t", params={}), ToolCall(id="2", tool="t", params={})
RESULT = ToolMessage(call_id="1", tool="t", outcome=ToolSuccess(tool="t", result=1))
OTHER_RESULT = RESULT.model_copy(update={"call_id": "2"})
ANSWER = AssistantMessage(text="done")
CALLS = AssistantMessage(text="looking", tool_calls=(CALL, OTHER_CALL))
SILENT_CALLS = AssistantMessage(tool_calls=(CALL,))
BAD = AssistantMessage(text='{"tool_calls": [', unreadable="it is cut off")
EMPTY = AssistantMessage(unreadable="it was empty")
CORRECTION = UserMessage(
    text="Your last reply could not be read: it is cut off. Reply again.", purpose="correction"
)
CLOSING = UserMessage(
    text="The limit of 2 turns is reached, and no more tools can be called. "
    "Answer now with what you have, and say plainly what is missing or uncertain.",
    purpose="closing",
)
REACHED = "limit of 2 turns"


@pytest.mark.parametrize(
    ("said", "step"),
    [
        pytest.param([], CallModel(), id="the prompt"),
        pytest.param([ANSWER], Finish("done"), id="an answer"),
        pytest.param([CALLS], RunTools((CALL, OTHER_CALL)), id="calls"),
        pytest.param([CALLS, RESULT, OTHER_RESULT], CallModel(), id="outcomes"),
        pytest.param([CALLS, RESULT, OTHER_RESULT, ANSWER], Finish("done"), id="an answer in the last turn"),
        pytest.param(
            [CALLS, RESULT, OTHER_RESULT, CALLS], RunTools((CALL, OTHER_CALL)), id="calls in the last turn"
        ),
        pytest.param([CALLS, RESULT, CALLS, RESULT], Tell(CLOSING), id="outcomes of the last turn"),
        pytest.param([CALLS, RESULT, CALLS, RESULT, CLOSING], CallModel(closing=True), id="told to close"),
        pytest.param(
            [CALLS, RESULT, CALLS, RESULT, CLOSING, ANSWER], LimitReached(REACHED, "done"), id="closed"
        ),
        pytest.param(
            [CALLS, RESULT, CALLS, RESULT, CLOSING, SILENT_CALLS],
            RefuseTools((CALL,), limit="the limit of 2 turns is reached"),
            id="calls in spite of the closing",
        ),
        pytest.param(
            [CALLS, RESULT, CALLS, RESULT, CLOSING, SILENT_CALLS, RESULT],
            LimitReached(REACHED, "looking"),
            id="calls refused: the answer is what was said before",
        ),
        pytest.param(
            [CALLS, RESULT, CALLS, RESULT, CLOSING, BAD],
            LimitReached(REACHED, '{"tool_calls": ['),
            id="an unreadable closing reply is shown as it is",
        ),
        pytest.param(
            [CALLS, RESULT, CALLS, RESULT, CLOSING, EMPTY],
            LimitReached(REACHED, "looking"),
            id="an empty closing reply: the answer is what was said before",
        ),
        pytest.param(
            [SILENT_CALLS, RESULT, SILENT_CALLS, RESULT, CLOSING, EMPTY],
            LimitReached(REACHED, ""),
            id="a model that never said anything",
        ),
        pytest.param([BAD], Tell(CORRECTION), id="an unreadable reply"),
        pytest.param([BAD, CORRECTION], CallModel(), id="a correction"),
        pytest.param([BAD, CORRECTION, ANSWER], Finish("done"), id="an answer after a correction"),
        pytest.param([BAD, CORRECTION, CALLS, RESULT], Tell(CLOSING), id="an unreadable reply is a turn"),
        pytest.param([CALLS, RESULT, BAD], Tell(CORRECTION), id="an unreadable reply in the last turn"),
        pytest.param([CALLS, RESULT, BAD, CORRECTION], Tell(CLOSING), id="no turn left after a correction"),
        pytest.param(
            [BAD, CORRECTION, BAD, CORRECTION, CLOSING], CallModel(closing=True), id="closing all the same"
        ),
        pytest.param([ANSWER, UserMessage(text="and now?")], CallModel(), id="asked again"),
    ],
)
def test_what_was_said_decides_what_comes_next(said: list[Message], step: Step) -> None:
    assert next_step(Conversation().append(SYSTEM, PROMPT, *said), Limits(max_turns=2)) == step


@pytest.mark.parametrize(
    ("said", "step"),
    [
        pytest.param([BAD, CORRECTION] * 2, CallModel(), id="two"),
        pytest.param([*([BAD, CORRECTION] * 2), BAD], ModelUnreadable("it is cut off"), id="three in a row"),
        pytest.param(
            [*([BAD, CORRECTION] * 2), EMPTY], ModelUnreadable("it was empty"), id="of different kinds"
        ),
        pytest.param(
            [*([BAD, CORRECTION] * 2), CALLS, RESULT, BAD], Tell(CORRECTION), id="a readable one in between"
        ),
        pytest.param(
            [*([BAD, CORRECTION] * 2), CALLS, RESULT, *([BAD, CORRECTION] * 2), BAD],
            ModelUnreadable("it is cut off"),
            id="three in a row later on",
        ),
        pytest.param(
            [CALLS, RESULT, BAD, PROMPT, BAD, PROMPT, BAD], ModelUnreadable("it is cut off"), id="asked"
        ),
    ],
)
def test_three_unreadable_replies_in_a_row_are_the_end(said: list[Message], step: Step) -> None:
    assert next_step(Conversation().append(SYSTEM, PROMPT, *said), Limits(max_turns=50)) == step


def test_a_limit_of_one_turn_is_told_in_the_singular() -> None:
    said = Conversation().append(SYSTEM, PROMPT, CALLS, RESULT)
    step = next_step(said, Limits(max_turns=1))
    assert isinstance(step, Tell)
    assert step.message.text.startswith("The limit of 1 turn is reached, and")


@pytest.mark.parametrize("max_turns", [0, -1])
def test_a_run_has_at_least_one_turn(max_turns: int) -> None:
    with pytest.raises(ValidationError):
        Limits(max_turns=max_turns)


def drive(replies: Iterable[AssistantMessage], limits: Limits) -> tuple[Step, Conversation, list[Step]]:
    """Carry out what next_step decides, with a model that gives these replies, to the last step."""
    model = iter(replies)
    said = Conversation().append(SYSTEM, PROMPT)
    steps: list[Step] = []
    while True:
        step = next_step(said, limits)
        steps.append(step)
        match step:
            case Finish() | LimitReached() | ModelUnreadable():
                return step, said, steps
            case CallModel():
                said = said.append(next(model))
            case RunTools(calls=calls) | RefuseTools(calls=calls):
                said = said.append(*(RESULT.model_copy(update={"call_id": call.id}) for call in calls))
            case Tell(message=message):
                said = said.append(message)


REPLIES = st.lists(
    st.sampled_from([CALLS, CALLS, SILENT_CALLS, SILENT_CALLS, BAD, EMPTY, ANSWER]), min_size=12, max_size=12
)
LIMITS = st.integers(1, 11).map(lambda turns: Limits(max_turns=turns))


@given(replies=REPLIES, limits=LIMITS)
def test_every_run_ends_one_turn_after_its_limit_at_the_latest(
    replies: list[AssistantMessage], limits: Limits
) -> None:
    _, said, steps = drive(replies, limits)
    asked = [step for step in steps if isinstance(step, CallModel)]
    assert said.turns == len(asked) <= limits.max_turns + 1
    assert [step.closing for step in asked] == [number >= limits.max_turns for number in range(len(asked))]


@given(replies=REPLIES, limits=LIMITS)
def test_every_call_is_answered_once_before_the_model_is_asked_again(
    replies: list[AssistantMessage], limits: Limits
) -> None:
    _, said, _ = drive(replies, limits)
    open_calls: list[str] = []
    for message in said.messages:
        match message:
            case ToolMessage(call_id=call_id):
                open_calls.remove(call_id)
            case AssistantMessage(tool_calls=calls):
                assert open_calls == []
                open_calls = [call.id for call in calls]
            case SystemMessage() | UserMessage():
                assert open_calls == []
    assert open_calls == []


@given(replies=REPLIES, limits=LIMITS)
def test_a_run_fails_only_after_three_unreadable_replies_and_within_its_limit(
    replies: list[AssistantMessage], limits: Limits
) -> None:
    last, said, steps = drive(replies, limits)
    if isinstance(last, ModelUnreadable):
        last_replies = [one for one in said.messages if isinstance(one, AssistantMessage)]
        assert all(reply.unreadable for reply in last_replies[-MAX_UNREADABLE_REPLIES:])
        assert said.turns <= limits.max_turns
    corrections = [one for one in steps if isinstance(one, Tell) and one.message.purpose == "correction"]
    assert len(corrections) <= limits.max_turns


@given(replies=REPLIES, limits=LIMITS)
def test_the_model_is_told_to_close_once_and_only_at_the_limit(
    replies: list[AssistantMessage], limits: Limits
) -> None:
    last, _, steps = drive(replies, limits)
    closings = [one for one in steps if isinstance(one, Tell) and one.message.purpose == "closing"]
    assert len(closings) == isinstance(last, LimitReached)


@given(replies=REPLIES, limits=LIMITS)
def test_the_same_conversation_always_gives_the_same_step(
    replies: list[AssistantMessage], limits: Limits
) -> None:
    last, said, _ = drive(replies, limits)
    rebuilt = Conversation().append(*said.messages)
    assert next_step(rebuilt, limits) == last
