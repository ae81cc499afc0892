import inspect
import re
from decimal import Decimal
from pathlib import Path

import pytest

from activities.price_table import load_price_table
from console.limit_options import read_dollars, read_period
from console.run import run
from surefoot.breaker import FailureStreaks, Streak, warning_text
from surefoot.budget import limit_reached as name_of_limit
from surefoot.failures import limit_reached
from surefoot.limits import Limits
from surefoot.outcome import envelope
from surefoot.spent import Spent
from surefoot.told import closing_text
from surefoot.usage import Usage

LIMITS = (Path(__file__).parents[1] / "docs" / "limits.md").read_text(encoding="utf-8")

LOOP = Streak(tool="bash", error_code="TOOL_TIMEOUT", failures=10, warned_at=5)
MUCH = Spent(
    tool_calls=200,
    usage=Usage(requests=50, input_tokens=10**6, output_tokens=10**5, cost=Decimal("2.5")),
    elapsed_seconds=7_200,
    streaks=FailureStreaks(streaks=(LOOP,)),
)


def limits_of(option: str, value: str) -> Limits:
    """Give what the command makes of one option, and no other limit."""
    match option:
        case "max-time":
            return Limits(max_turns=51, max_seconds=read_period(value), failures_in_a_row=99)
        case "max-cost":
            return Limits(max_turns=51, max_cost=read_dollars(value), failures_in_a_row=99)
        case "max-failures-in-a-row":
            return Limits(max_turns=51, failures_in_a_row=int(value))
        case _:
            fields = {"max_turns": 51, "failures_in_a_row": 99, option.replace("-", "_"): int(value)}
            return Limits.model_validate(fields)


def test_every_limit_is_in_the_table_with_the_reason_that_it_gives() -> None:
    rows = re.findall(r"^\| `--([a-z-]+) (\S+)` \| .* \| `(.*)` \|$", LIMITS, flags=re.MULTILINE)
    options = [
        name.replace("_", "-") for name in inspect.signature(run).parameters if name.startswith("max_")
    ]

    assert [option for option, *_ in rows] == options
    assert [name_of_limit(limits_of(option, value), MUCH, turns=50) for option, value, _ in rows] == [
        reason for *_, reason in rows
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(closing_text("limit of 50 turns"), id="the closing"),
        pytest.param(warning_text((LOOP.model_copy(update={"failures": 5}),), 5), id="the warning"),
        pytest.param(
            envelope(limit_reached("bash", "the limit of 200 tool calls is reached")), id="a call not made"
        ),
    ],
)
def test_what_the_model_is_told_is_quoted_as_it_is(text: str) -> None:
    assert f"\n{text}\n```" in LIMITS


def test_the_price_table_that_is_shown_can_be_used(tmp_path: Path) -> None:
    (table,) = re.findall(r"```toml\n(.*?)```", LIMITS, flags=re.DOTALL)
    path = tmp_path / "prices.toml"
    path.write_text(table)

    facts = load_price_table(path).find("openai-chat:my-model")

    assert facts is not None
    assert facts.price is not None
    assert facts.price.cost(Usage(input_tokens=10**6, cache_read_tokens=10**6)) == Decimal("0.125")
