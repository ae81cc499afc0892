"""What a model asks for its tokens."""

from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from surefoot.usage import BILLIONTH, Usage

_MILLION = 1_000_000
# A server can make up any number of tokens, and a decimal has room for 28 digits.
_MOST = Decimal(10**9)


def _number(value: object) -> object:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return value
    raise ValueError("it must be a number of dollars")


Rate = Annotated[Decimal, BeforeValidator(_number), Field(ge=0, le=1_000_000)]
"""US dollars for a million tokens."""


class Price(BaseModel):
    """US dollars for a million tokens; cached input costs what other input does if nothing else is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Rate
    output: Rate
    cache_read: Rate | None = None
    cache_write: Rate | None = None

    def cost(self, usage: Usage) -> Decimal:
        """Give the dollars for this usage, exact to a billionth; cached input is part of its input."""
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        # A provider may well count less input than it says to have found in its cache.
        fresh = max(usage.input_tokens - read - written, 0)
        total = (
            fresh * self.input
            + read * _given(self.cache_read, self.input)
            + written * _given(self.cache_write, self.input)
            + usage.output_tokens * self.output
        )
        return min(total / _MILLION, _MOST).quantize(BILLIONTH)


def _given(rate: Decimal | None, otherwise: Decimal) -> Decimal:
    return otherwise if rate is None else rate
