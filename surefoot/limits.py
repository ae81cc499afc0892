"""What a run may spend."""

from typing import Annotated

from pydantic import Field

from surefoot.wire import WireModel

MAX_UNREADABLE_REPLIES = 3
"""Replies in a row that cannot be read before the run fails."""


class Limits(WireModel):
    """The limits of one run; reaching one gives the model a last turn to answer."""

    max_turns: Annotated[int, Field(ge=1)] = 50
