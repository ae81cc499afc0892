from datetime import UTC, datetime, timedelta
from decimal import Decimal

from surefoot.conversation import AssistantMessage, ToolMessage, UserMessage
from surefoot.failures import crashed, limit_reached, not_found
from surefoot.outcome import Outcome, ToolSuccess
from surefoot.spent import NOTHING_SPENT, Spent
from surefoot.usage import NO_USAGE, Usage

START = datetime(2026, 1, 1, tzinfo=UTC)


def outcome(of: Outcome) -> ToolMessage:
    return ToolMessage(call_id="1", tool="t", outcome=of)


def test_every_call_counts_whatever_it_came_to_but_one_that_a_limit_forbade() -> None:
    spent = NOTHING_SPENT
    for message in (
        UserMessage(text="u"),
        AssistantMessage(text="a"),
        outcome(ToolSuccess(tool="t", result=1)),
        outcome(crashed("t", 1)),
        outcome(not_found("t", [])),
        outcome(limit_reached("t", "enough")),
    ):
        spent = spent.after(message)
    assert spent.tool_calls == 3


def test_the_time_counts_from_the_first_look_at_the_clock() -> None:
    later = START + timedelta(hours=1)
    spent = NOTHING_SPENT.at(START, NO_USAGE).at(later, NO_USAGE)
    assert (spent.started_at, spent.elapsed_seconds) == (START, 3_600)


def test_a_clock_that_goes_back_takes_no_time() -> None:
    assert NOTHING_SPENT.at(START, NO_USAGE).at(START - timedelta(hours=1), NO_USAGE).elapsed_seconds == 0


def test_what_is_spent_survives_json() -> None:
    usage = Usage(requests=1, input_tokens=5, cost=Decimal("0.1"))
    spent = NOTHING_SPENT.after(outcome(crashed("t", 1))).told_of("limit of 1 turn").at(START, usage)
    assert Spent.model_validate_json(spent.model_dump_json()) == spent
    assert (spent.usage, spent.tool_calls) == (usage, 1)
