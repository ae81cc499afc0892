from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from surefoot.price import Price
from surefoot.usage import NO_USAGE, Usage

FLAT = Price(input=Decimal("1.25"), output=Decimal(10))
WITH_CACHE = Price(
    input=Decimal(3), output=Decimal(15), cache_read=Decimal("0.3"), cache_write=Decimal("3.75")
)


def used(input_tokens: int, output_tokens: int, *, read: int = 0, written: int = 0) -> Usage:
    return Usage(
        requests=1,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


@pytest.mark.parametrize(
    ("price", "usage", "cost"),
    [
        pytest.param(FLAT, used(0, 0), "0", id="nothing"),
        pytest.param(FLAT, used(1_000_000, 0), "1.25", id="a million in"),
        pytest.param(FLAT, used(0, 1), "0.00001", id="one token out"),
        pytest.param(FLAT, used(1_000, 0, read=900), "0.00125", id="cached input at no price of its own"),
        pytest.param(WITH_CACHE, used(1_000_000, 0, read=1_000_000), "0.3", id="all from the cache"),
        pytest.param(WITH_CACHE, used(1_000, 0, read=400, written=100), "0.001995", id="some of each"),
        pytest.param(WITH_CACHE, used(0, 0, read=1_000), "0.0003", id="more in the cache than in all"),
        pytest.param(FLAT, used(10**40, 0), "1000000000", id="a number that a server made up"),
    ],
)
def test_usage_costs_what_the_price_says(price: Price, usage: Usage, cost: str) -> None:
    assert price.cost(usage) == Decimal(cost)


def test_ten_turns_of_ten_cents_are_one_dollar() -> None:
    turn = Usage(requests=1, cost=Decimal("0.1"))
    assert sum([turn] * 10, NO_USAGE).cost == 1


COSTS = st.none() | st.integers(0, 10**12).map(lambda billionths: Decimal(billionths) / 10**9)
USAGES = st.builds(Usage, requests=st.integers(0, 3), input_tokens=st.integers(0, 10**6), cost=COSTS)


@given(usages=st.lists(USAGES, max_size=6))
def test_a_sum_is_known_if_all_that_was_asked_is(usages: list[Usage]) -> None:
    total = sum(usages, NO_USAGE)
    unknown = any(usage.requests and usage.cost is None for usage in usages)
    known = [usage.cost for usage in usages if usage.cost is not None]
    assert total.cost == (None if unknown or not known else sum(known))


@given(one=USAGES, other=USAGES, third=USAGES)
def test_the_order_of_adding_makes_no_difference(one: Usage, other: Usage, third: Usage) -> None:
    assert (one + other) + third == one + (other + third) == (other + third) + one


@given(usage=USAGES)
def test_a_cost_is_a_number_in_json_and_comes_back_unchanged(usage: Usage) -> None:
    assert isinstance(usage.model_dump(mode="json")["cost"], float | None)
    assert Usage.model_validate_json(usage.model_dump_json()) == usage


@pytest.mark.parametrize(
    "rate", [pytest.param(-1, id="below zero"), True, "1", float("nan"), float("inf"), 10**7, None]
)
def test_a_rate_is_a_sensible_number(rate: object) -> None:
    with pytest.raises(ValidationError):
        Price.model_validate({"input": rate, "output": 1})
