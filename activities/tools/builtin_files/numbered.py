"""Lines as the model reads them: numbered, and none too long."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_LINE_CHARACTERS = 2_000

MAX_LONE_LINE_CHARACTERS = 10_000
"""Where it is the only one: even if JSON needs six bytes for each of them, an answer has room for that."""


def shortened(line: str, limit: int = MAX_LINE_CHARACTERS) -> str:
    """Give a line, or its beginning and how much more there is."""
    if len(line) <= limit:
        return line
    return f"{line[:limit]}… [{len(line) - limit:,} more characters]"


def numbered(lines: Iterable[str], first: int, limit: int = MAX_LINE_CHARACTERS) -> list[str]:
    """Give each line behind its number and a tab, as `cat -n` does."""
    return [f"{number:>6}\t{shortened(line, limit)}" for number, line in enumerate(lines, first)]
