"""What is wrong with a tool that is written in Python."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong with a function as a tool; with a warning it can be used all the same."""

    reason: str
    field: str | None = None
    """The parameter, or the option of `@tool`, that it is about."""
    warning: bool = False
