"""Prices and context windows as providers publish them, from the list that `genai-prices` brings along."""

from dataclasses import dataclass
from decimal import Decimal

from surefoot.usage import BILLIONTH, Usage


@dataclass(frozen=True)
class Known:
    """What is known of a model's reply, and of the model."""

    cost: Decimal | None
    """Dollars for the reply; None where nobody knows a price."""
    context_window: int | None
    """How many tokens fit the model."""


UNKNOWN = Known(None, None)


def look_up(provider: str, model: str, usage: Usage) -> Known:
    """Find a model, and what this usage of it costs today; nothing is asked of any network.

    The first call takes half a second, and belongs into a thread.
    """
    # The list takes long to load, and scripted models need none.
    import genai_prices

    # The library refuses usage in which the parts are larger than the whole; providers report it at times.
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    told = genai_prices.Usage(
        input_tokens=max(usage.input_tokens, cached),
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
    try:
        found = genai_prices.calc_price(told, model, provider_id=provider)
    except LookupError:
        return UNKNOWN
    priced = any(rate is not None for rate in vars(found.model_price).values())
    cost = min(found.total_price, Decimal(10**9)).quantize(BILLIONTH)
    return Known(cost if priced else None, found.model.context_window)
