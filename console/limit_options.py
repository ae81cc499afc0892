"""The options of `surefoot run` that limit what it may spend."""

from decimal import Decimal
from typing import Annotated

import typer

from surefoot import amounts

MaxTurns = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Turns before the last one.", show_default="50")
]
MaxToolCalls = Annotated[int | None, typer.Option(min=1, metavar="N", help="Tool calls, in all.")]
MaxInputTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Tokens that the model is given, cached ones included.")
]
MaxOutputTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Tokens that the model writes.")
]


def read_dollars(text: str) -> Decimal:
    """Read an amount of US dollars such as `2.50` or `$2.50`; raises BadParameter for anything else."""
    try:
        return amounts.read_dollars(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def read_period(text: str) -> float:
    """Read a time such as `90s`, `30m`, `1h30m` or `2d` in seconds; raises BadParameter for anything else."""
    try:
        return amounts.read_period(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


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
    int | None,
    typer.Option(
        min=1,
        show_default="5",
        max=1_000_000,
        metavar="N",
        help="Failures of one tool in one way before the model is warned; at twice as many the run ends.",
    ),
]
