"""read_file: a part of a text file, line by line."""

from __future__ import annotations

import os
from contextlib import suppress

from activities.tools.builtin_files.confinement import place_below, relative_to
from activities.tools.builtin_files.contents import lines_of, read_plain, text_of
from activities.tools.builtin_files.numbered import (
    MAX_LINE_CHARACTERS,
    MAX_LONE_LINE_CHARACTERS,
    numbered,
)
from activities.tools.builtin_files.program import ROOT, Answer, fitting
from activities.tools.builtin_files.refusal import RefusalError

NOTHING: Answer = {
    "content": "",
    "first_line": None,
    "last_line": None,
    "total_lines": None,
    "truncated": False,
}

STORE = "SUREFOOT_STORE"
"""Where the worker keeps artifacts, whose paths the model is told: nothing else is read from outside."""


def read_file(path: str, offset: int = 1, limit: int = 2_000, column: int = 1) -> Answer:
    """Read at most `limit` lines from line `offset` on, each from the character `column` on.

    Raises:
        RefusalError: it is no text, or has no such line.
        OSError: it cannot be read.
    """
    with place_below(*readable(path)) as place:
        lines = lines_of(text_of(read_plain(place), path))
    first = int(offset)
    if first > max(len(lines), 1):
        raise RefusalError(f"{path!r} has {_lines(len(lines))}, and line {first:,} was asked for")
    # Counted one by one: many lines that are short can still be too much.
    asked = [line[int(column) - 1 :] for line in lines[first - 1 : first - 1 + int(limit)]]
    most_characters = MAX_LONE_LINE_CHARACTERS if int(limit) == 1 else MAX_LINE_CHARACTERS
    shown = fitting(numbered(asked, first, most_characters))
    last = first + len(shown) - 1
    return {
        "content": "\n".join(shown),
        "first_line": first if shown else None,
        "last_line": last if shown else None,
        "total_lines": len(lines),
        "truncated": last < len(lines),
    }


def readable(path: str) -> tuple[str, str]:
    """Give the directory that a path may be read below, and the path from there: here, or among artifacts."""
    store = os.environ.get(STORE, "")
    if path.startswith("/") and store.startswith("/") and relative_to(ROOT, path) is None:
        artifacts = f"{store}/artifacts"
        with suppress(FileNotFoundError):
            if inside := relative_to(artifacts, path):
                return artifacts, inside
    return ROOT, path


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
