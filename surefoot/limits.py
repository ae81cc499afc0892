"""What a run may spend."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from surefoot.usage import BILLIONTH, Dollars
from surefoot.wire import WireModel

MAX_UNREADABLE_REPLIES = 3
"""Replies in a row that cannot be read, or final answers that do not fit, before the run fails."""

_CENTURY_SECONDS = 100 * 366 * 86_400

Count = Annotated[int, Field(ge=1)]


class Limits(WireModel):
    """The limits of one run, over its whole chain; reaching one gives the model a last turn to answer.

    None is no limit.
    """

    max_turns: Count = 50
    max_tool_calls: Count | None = None
    max_input_tokens: Count | None = None
    """Cached ones included."""
    max_output_tokens: Count | None = None
    max_cost: Annotated[Dollars, Field(ge=BILLIONTH, le=Decimal(1_000_000))] | None = None
    """In US dollars; a run with this limit asks only a model whose price is known."""
    max_seconds: Annotated[float, Field(gt=0, le=_CENTURY_SECONDS)] | None = None
    """How long the run may take by the clock on the wall, from its start."""
    failures_in_a_row: Annotated[int, Field(ge=1, le=1_000_000)] = 5
    """How often one tool may fail in one way before the model is warned; at twice that the run ends."""
