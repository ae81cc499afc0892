from datetime import timedelta
from decimal import Decimal

import pytest
from pydantic import ValidationError

from surefoot.budget import dollars, limit_reached, period
from surefoot.limits import Limits
from surefoot.spent import NOTHING_SPENT, Spent
from surefoot.usage import Usage

TOKENS_IN, TOKENS_OUT = Usage(requests=1, input_tokens=11), Usage(requests=1, output_tokens=1)


def costing(dollars: str) -> Usage:
    return Usage(requests=1, cost=Decimal(dollars))


@pytest.mark.parametrize(
    ("limits", "spent", "reached"),
    [
        pytest.param(Limits(), Spent(tool_calls=10**6, elapsed_seconds=1e9), None, id="no limits"),
        pytest.param(Limits(), Spent(usage=Usage(requests=1, input_tokens=10**9)), None, id="nor of tokens"),
        pytest.param(Limits(max_tool_calls=2), Spent(tool_calls=1), None, id="a call left"),
        pytest.param(Limits(max_tool_calls=2), Spent(tool_calls=2), "limit of 2 tool calls", id="calls"),
        pytest.param(
            Limits(max_input_tokens=10), Spent(usage=TOKENS_IN), "limit of 10 input tokens", id="in"
        ),
        pytest.param(
            Limits(max_output_tokens=1), Spent(usage=TOKENS_OUT), "limit of 1 output token", id="out"
        ),
        pytest.param(
            Limits(max_cost=Decimal("2.5")),
            Spent(usage=costing("2.499999999")),
            None,
            id="a billionth of a dollar left",
        ),
        pytest.param(
            Limits(max_cost=Decimal("2.5")),
            Spent(usage=costing("2.5")),
            "limit of $2.50",
            id="dollars",
        ),
        pytest.param(Limits(max_cost=Decimal(1)), NOTHING_SPENT, None, id="dollars, and nothing asked yet"),
        pytest.param(Limits(max_seconds=90), Spent(elapsed_seconds=89.9), None, id="time left"),
        pytest.param(Limits(max_seconds=90), Spent(elapsed_seconds=90), "time limit of 1m 30s", id="time"),
    ],
)
def test_a_limit_is_reached_when_as_much_is_spent(limits: Limits, spent: Spent, reached: str | None) -> None:
    assert limit_reached(limits, spent, turns=0) == reached


def test_turns_are_counted_by_the_conversation() -> None:
    assert limit_reached(Limits(max_turns=1_000), NOTHING_SPENT, turns=1_000) == "limit of 1,000 turns"


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        pytest.param(timedelta(0), "0s", id="none"),
        pytest.param(timedelta(seconds=0.5), "0.5s", id="half a second"),
        pytest.param(timedelta(seconds=90), "1m 30s", id="a minute and a half"),
        pytest.param(timedelta(hours=2), "2h", id="hours"),
        pytest.param(timedelta(hours=2, seconds=1), "2h 1s", id="hours and a second"),
        pytest.param(timedelta(days=100), "2,400h", id="days"),
    ],
)
def test_a_period_is_printed_in_full(duration: timedelta, text: str) -> None:
    assert period(duration) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("2.5", "$2.50"),
        ("0.0005", "$0.0005"),
        ("1000000", "$1,000,000.00"),
        ("1E+2", "$100.00"),
        ("3.00", "$3.00"),
    ],
)
def test_dollars_are_printed_exactly_with_cents_at_least(amount: str, text: str) -> None:
    assert dollars(Decimal(amount)) == text


@pytest.mark.parametrize(
    "limits",
    [
        {"max_tool_calls": 0},
        {"max_input_tokens": 0},
        {"max_output_tokens": -1},
        {"max_cost": 0},
        {"max_cost": float("nan")},
        {"max_cost": 2_000_000},
        {"max_seconds": 0},
        {"max_seconds": float("inf")},
        {"failures_in_a_row": 0},
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(limits: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Limits.model_validate(limits)


def test_limits_survive_json() -> None:
    limits = Limits(max_cost=Decimal("0.1"), max_seconds=0.5, max_tool_calls=7)
    assert Limits.model_validate_json(limits.model_dump_json()) == limits
