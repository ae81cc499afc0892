"""The options of `surefoot run` that limit what it may spend."""

import re
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer

from surefoot.usage import BILLIONTH

MaxTurns = Annotated[int, typer.Option(min=1, metavar="N", help="Turns before the last one.")]
MaxToolCalls = Annotated[int | None, typer.Option(min=1, metavar="N", help="Tool calls, in all.")]
MaxInputTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Tokens that the model is given, cached ones included.")
]
MaxOutputTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Tokens that the model writes.")
]

_MAX_DOLLARS = 1_000_000
_MAX_SECONDS = 100 * 366 * 86_400
_SECONDS_OF = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd])")
_PERIOD = re.compile(f"(?:{_PART.pattern})+")


def read_dollars(text: str) -> Decimal:
    """Read an amount of US dollars such as `2.50` or `$2.50`; raises BadParameter for anything else."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        raise typer.BadParameter(f"{text!r} is no amount of dollars; write it as 2.50") from None
    if not (amount.is_finite() and BILLIONTH <= amount <= _MAX_DOLLARS):
        raise typer.BadParameter(f"it must be more than 0 and at most {_MAX_DOLLARS:,} dollars")
    return amount


def read_period(text: str) -> float:
    """Read a time such as `90s`, `30m`, `1h30m` or `2d` in seconds; raises BadParameter for anything else."""
    if not _PERIOD.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is no time; write it as 90s, 30m, 2h or 1h30m")
    seconds = sum(float(number) * _SECONDS_OF[unit] for number, unit in _PART.findall(text))
    if not 0 < seconds <= _MAX_SECONDS:
        raise typer.BadParameter("it must be more than 0 seconds and at most 100 years")
    return seconds


MaxCost = Annotated[
    Decimal | None,
    typer.Option(
        parser=read_dollars, metavar="DOLLARS", help="What the model may cost; see SUREFOOT_PRICES."
    ),
]
MaxTime = Annotated[
    float | None,
    typer.Option(parser=read_period, metavar="TIME", help="How long the run may take: 90s, 30m, 2h."),
]
MaxFailuresInARow = Annotated[
    int,
    typer.Option(
        min=1,
        max=1_000_000,
        metavar="N",
        help="Failures of one tool in one way before the model is warned; at twice as many the run ends.",
    ),
]
