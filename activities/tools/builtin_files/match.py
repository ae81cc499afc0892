"""What a search looks for, and what it finds, whichever engine does it."""

from __future__ import annotations

from typing import NamedTuple

SKIPPED = frozenset({".git"})
"""Names that no search enters."""


MAX_MATCHES = 1_000
"""The most that one search may ask for."""


class Wanted(NamedTuple):
    """What to look for."""

    pattern: str
    glob: str
    """Empty: in all files."""
    case_sensitive: bool


class Match(NamedTuple):
    """One line in which it was found."""

    path: str
    """From where the search began."""
    line: int
    text: str


def text_of_line(line: bytes) -> str:
    """Give a line as text without its ending; what is no UTF-8 becomes U+FFFD."""
    return line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")
