from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

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
from surefoot.failures import limit_reached, timed_out
from surefoot.limits import MAX_UNREADABLE_REPLIES, Limits
from surefoot.outcome import Outcome, ToolSuccess
from surefoot.spent import NOTHING_SPENT, Spent
from surefoot.turn import (
    CallModel,
    Finish,
    LimitReached,
    Listen,
    ModelUnreadable,
    RefuseTools,
    RunTools,
    Step,
    Tell,
    next_step,
)
from surefoot.usage import NO_USAGE, Usage

SYSTEM, PROMPT = SystemMessage(text="s"), UserMessage(text="u")
CALL, OTHER_CALL = ToolCall(id="1", tool="t", params={}), ToolCall(id="2", tool="t", params={})
DONE = ToolSuccess(tool="t", result=1)
REFUSED = limit_reached("t", "the limit is reached")
RESULT = ToolMessage(call_id="1", tool="t", outcome=DONE)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
TURN_USAGE = Usage(requests=1, input_tokens=1_000, output_tokens=10, cost=Decimal("0.1"))
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
UNREADABLE = "the model keeps giving replies that cannot be read"
TOLD = Tell(CLOSING, REACHED)


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
        pytest.param([CALLS, RESULT, CALLS, RESULT], TOLD, id="outcomes of the last turn"),
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
        pytest.param([BAD, CORRECTION, CALLS, RESULT], TOLD, id="an unreadable reply is a turn"),
        pytest.param([CALLS, RESULT, BAD], Tell(CORRECTION), id="an unreadable reply in the last turn"),
        pytest.param([CALLS, RESULT, BAD, CORRECTION], TOLD, id="no turn left after a correction"),
        pytest.param(
            [BAD, CORRECTION, BAD, CORRECTION, CLOSING], CallModel(closing=True), id="closing all the same"
        ),
        pytest.param([ANSWER, UserMessage(text="and now?")], CallModel(), id="asked again"),
    ],
)
def test_what_was_said_decides_what_comes_next(said: list[Message], step: Step) -> None:
    assert next_step(Conversation().append(SYSTEM, PROMPT, *said), Limits(max_turns=2), NOTHING_SPENT) == step


@pytest.mark.parametrize(
    ("said", "step"),
    [
        pytest.param([BAD, CORRECTION] * 2, CallModel(), id="two"),
        pytest.param(
            [*([BAD, CORRECTION] * 2), BAD],
            ModelUnreadable(f"{UNREADABLE}: it is cut off"),
            id="three in a row",
        ),
        pytest.param(
            [*([BAD, CORRECTION] * 2), EMPTY],
            ModelUnreadable(f"{UNREADABLE}: it was empty"),
            id="of different kinds",
        ),
        pytest.param(
            [*([BAD, CORRECTION] * 2), CALLS, RESULT, BAD], Tell(CORRECTION), id="a readable one in between"
        ),
        pytest.param(
            [*([BAD, CORRECTION] * 2), CALLS, RESULT, *([BAD, CORRECTION] * 2), BAD],
            ModelUnreadable(f"{UNREADABLE}: it is cut off"),
            id="three in a row later on",
        ),
        pytest.param([*([BAD, CORRECTION] * 2), PROMPT, BAD], Tell(CORRECTION), id="the user in between"),
    ],
)
def test_three_unreadable_replies_in_a_row_are_the_end(said: list[Message], step: Step) -> None:
    assert (
        next_step(Conversation().append(SYSTEM, PROMPT, *said), Limits(max_turns=50), NOTHING_SPENT) == step
    )


def test_a_limit_of_one_turn_is_told_in_the_singular() -> None:
    said = Conversation().append(SYSTEM, PROMPT, CALLS, RESULT)
    step = next_step(said, Limits(max_turns=1), NOTHING_SPENT)
    assert isinstance(step, Tell)
    assert step.message.text.startswith("The limit of 1 turn is reached, and")


@pytest.mark.parametrize("max_turns", [0, -1])
def test_a_run_has_at_least_one_turn(max_turns: int) -> None:
    with pytest.raises(ValidationError):
        Limits(max_turns=max_turns)


def drive(
    replies: Iterable[AssistantMessage], limits: Limits, outcome: Outcome = DONE
) -> tuple[Step, Conversation, list[Step]]:
    """Carry out what next_step decides, with a model that gives these replies, to the last step."""
    model = iter(replies)
    said, spent, usage = Conversation().append(SYSTEM, PROMPT), NOTHING_SPENT, NO_USAGE
    steps: list[Step] = []
    while True:
        step = next_step(said, limits, spent.at(NOW, usage))
        steps.append(step)
        messages: list[Message] = []
        match step:
            case Finish() | LimitReached() | ModelUnreadable() | Listen():
                return step, said, steps
            case CallModel():
                messages = [next(model)]
                usage += TURN_USAGE
            case RunTools(calls=calls, refused=refused):
                messages = [*answers(calls, outcome), *answers(refused, REFUSED)]
            case RefuseTools(calls=calls):
                messages = answers(calls, REFUSED)
            case Tell(message=message, limit=limit):
                messages = [message]
                spent = spent.told_of(limit)
        for message in messages:
            spent = spent.after(message)
        said = said.append(*messages)


def answers(calls: Iterable[ToolCall], outcome: Outcome) -> list[Message]:
    return [ToolMessage(call_id=call.id, tool=call.tool, outcome=outcome) for call in calls]


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
    assert next_step(rebuilt, limits, NOTHING_SPENT) == last


TIMED_OUT = timed_out("t", timedelta(seconds=1))


@pytest.mark.parametrize(
    ("limits", "outcome", "calls_made", "turns", "reason"),
    [
        pytest.param(Limits(max_tool_calls=3), DONE, 3, 3, "limit of 3 tool calls", id="tool calls"),
        pytest.param(Limits(max_tool_calls=4), DONE, 4, 3, "limit of 4 tool calls", id="after a whole turn"),
        pytest.param(Limits(max_tool_calls=1), DONE, 1, 2, "limit of 1 tool call", id="one tool call"),
        pytest.param(Limits(max_input_tokens=2_500), DONE, 6, 4, "limit of 2,500 input tokens", id="input"),
        pytest.param(Limits(max_output_tokens=20), DONE, 4, 3, "limit of 20 output tokens", id="output"),
        pytest.param(Limits(max_cost=Decimal("0.3")), DONE, 6, 4, "limit of $0.30", id="dollars, exactly"),
        pytest.param(
            Limits(max_tool_calls=4, max_turns=2), DONE, 4, 3, "limit of 2 turns", id="two at once, the first"
        ),
        pytest.param(
            Limits(failures_in_a_row=2),
            TIMED_OUT,
            4,
            3,
            "limit of 4 failures in a row of tool 't' with TOOL_TIMEOUT",
            id="a tool that fails in the same way",
        ),
        pytest.param(
            Limits(failures_in_a_row=1),
            TIMED_OUT,
            4,
            3,
            "limit of 2 failures in a row of tool 't' with TOOL_TIMEOUT",
            id="warned before the end, however many calls fail at once",
        ),
    ],
)
def test_each_limit_gives_one_closing_turn_and_then_ends_the_run_by_its_name(
    limits: Limits, outcome: Outcome, calls_made: int, turns: int, reason: str
) -> None:
    last, said, steps = drive([CALLS] * 10, limits, outcome)
    made = [call for step in steps if isinstance(step, RunTools) for call in step.calls]
    told = [step.message.text for step in steps if isinstance(step, Tell) and step.limit]
    assert last == LimitReached(reason, "looking")
    assert (len(made), said.turns, len(told)) == (calls_made, turns, 1)
    assert told[0].startswith(f"The {reason} is reached, and no more tools can be called.")


def test_calls_above_their_limit_are_answered_without_being_made() -> None:
    said, spent = Conversation().append(SYSTEM, PROMPT, CALLS), Spent(tool_calls=4)
    step = next_step(said, Limits(max_tool_calls=5), spent)
    assert step == RunTools((CALL,), (OTHER_CALL,), limit="the limit of 5 tool calls is reached")


TWO_HOURS = Limits(max_seconds=7_200)


@pytest.mark.parametrize(
    ("said", "elapsed_seconds", "step"),
    [
        pytest.param([], 7_199.9, CallModel(), id="before"),
        pytest.param([CALLS], 7_199.9, RunTools((CALL, OTHER_CALL)), id="calls before"),
        pytest.param(
            [CALLS],
            7_200,
            RefuseTools((CALL, OTHER_CALL), limit="the time limit of 2h is reached"),
            id="calls after: none of them begins",
        ),
        pytest.param([ANSWER], 9_000, Finish("done"), id="an answer is an answer, however late"),
        pytest.param(
            [CALLS, RESULT, OTHER_RESULT],
            7_200,
            Tell(
                CLOSING.model_copy(
                    update={"text": CLOSING.text.replace("limit of 2 turns", "time limit of 2h")}
                ),
                "time limit of 2h",
            ),
            id="outcomes after",
        ),
    ],
)
def test_time_is_looked_at_between_turns(said: list[Message], elapsed_seconds: float, step: Step) -> None:
    conversation, spent = Conversation().append(SYSTEM, PROMPT, *said), Spent(elapsed_seconds=elapsed_seconds)
    assert next_step(conversation, TWO_HOURS, spent) == step


def test_the_limit_that_the_model_was_told_of_is_the_one_that_ended_the_run() -> None:
    said = Conversation().append(SYSTEM, PROMPT, CALLS, RESULT, OTHER_RESULT, CLOSING, ANSWER)
    spent = Spent(limit="limit of $1.00", elapsed_seconds=1e6)
    step = next_step(said, Limits(max_turns=1, max_cost=Decimal(1), max_seconds=1), spent)
    assert step == LimitReached("limit of $1.00", "done")


def test_a_cost_that_nobody_knows_is_no_way_around_its_limit() -> None:
    spent = Spent(usage=Usage(requests=1))
    step = next_step(Conversation().append(SYSTEM, PROMPT, CALLS, RESULT), Limits(max_cost=Decimal(1)), spent)
    assert isinstance(step, Tell)
    assert step.message.text.startswith("The limit of $1.00 (nobody knows what was spent) is reached")


def test_a_warning_comes_once_at_the_limit_and_the_run_goes_on() -> None:
    _, said, steps = drive([SILENT_CALLS] * 3 + [ANSWER], Limits(failures_in_a_row=2), TIMED_OUT)
    warnings = [step.message for step in steps if isinstance(step, Tell)]
    assert [warning.purpose for warning in warnings] == ["warning"]
    assert warnings[0].text == (
        "Tool 't' has failed 2 times in a row with TOOL_TIMEOUT. Do not repeat the same call: change what "
        "you ask of it, use another tool, or answer with what you have and say what did not work. "
        "After 4 such failures in a row the run ends."
    )
    assert said.messages.index(warnings[0]) == 6
