"""What a model's replies cost, in tokens and in dollars."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer

from surefoot.wire import WireModel

# A decimal inside, since ten turns of 0.1 dollars are to be one dollar and not 0.9999999999999999; a number
# in JSON, as everybody expects it. Reading the number's shortest text gives the decimal back unchanged, up
# to fifteen digits.
Dollars = Annotated[Decimal, Field(ge=0), PlainSerializer(float, when_used="json")]
"""US dollars, exact to a billionth."""

BILLIONTH = Decimal("1e-9")
"""What costs are rounded to."""


class Usage(WireModel):
    """Token counts as the provider reported them; cached input is part of `input_tokens`."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost: Dollars | None = None
    """None if the price of any of it is unknown."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cost=_sum_of_costs(self, other),
        )


NO_USAGE = Usage()


def _sum_of_costs(one: Usage, other: Usage) -> Decimal | None:
    # What asked for nothing has no cost to know.
    costs = [usage.cost for usage in (one, other) if usage.requests or usage.cost is not None]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if known and len(known) == len(costs) else None
