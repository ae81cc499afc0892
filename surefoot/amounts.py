"""Amounts of money and time, as people write them."""

import re
from decimal import Decimal, InvalidOperation

from surefoot.usage import BILLIONTH

_MAX_DOLLARS = 1_000_000
_MAX_SECONDS = 100 * 366 * 86_400
_SECONDS_OF = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd])")
_PERIOD = re.compile(f"(?:{_PART.pattern})+")


def read_dollars(text: str) -> Decimal:
    """Read an amount of US dollars such as `2.50` or `$2.50`; raises ValueError, in words."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise ValueError(f"{text!r} is no amount of dollars; write it as 2.50") from None
    if not (amount.is_finite() and BILLIONTH <= amount <= _MAX_DOLLARS):
        raise ValueError(f"it must be more than 0 and at most {_MAX_DOLLARS:,} dollars")
    return amount


def read_period(text: str) -> float:
    """Read a time such as `90s`, `30m`, `1h30m` or `2d` in seconds; raises ValueError, in words."""
    if not _PERIOD.fullmatch(text):
        raise ValueError(f"{text!r} is no time; write it as 90s, 30m, 2h or 1h30m")
    seconds = sum(float(number) * _SECONDS_OF[unit] for number, unit in _PART.findall(text))
    if not 0 < seconds <= _MAX_SECONDS:
        raise ValueError("it must be more than 0 seconds and at most 100 years")
    return seconds
