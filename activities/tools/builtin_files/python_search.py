"""A search with nothing but Python: for machines without ripgrep."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from activities.tools.builtin_files.confinement import Place
from activities.tools.builtin_files.contents import read_plain
from activities.tools.builtin_files.globs import Glob
from activities.tools.builtin_files.match import SKIPPED, Match, Wanted, text_of_line
from activities.tools.builtin_files.program import shown_name
from activities.tools.builtin_files.refusal import RefusalError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_DEPTH = 200
_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def search_directory(directory: int, wanted: Wanted) -> Iterator[Match]:
    """Search the files below an open directory, by name; no link is followed."""
    pattern = _compiled(wanted)
    glob = Glob(wanted.glob) if wanted.glob else None
    for place in _files(directory, "", 0):
        if glob is None or glob.takes(place.path):
            try:
                data = read_plain(place)
            except (OSError, RefusalError):
                # It has gone, may not be read or is too large: the others are searched all the same.
                continue
            yield from _matches(data, pattern, place.path)


def search_file(file: int, path: str, wanted: Wanted) -> Iterator[Match]:
    """Search an open file."""
    pattern = _compiled(wanted)
    with os.fdopen(os.dup(file), "rb") as opened:
        yield from _matches(opened.read(), pattern, path)


def _compiled(wanted: Wanted) -> re.Pattern[str]:
    try:
        return re.compile(wanted.pattern, 0 if wanted.case_sensitive else re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        raise RefusalError(f"the pattern cannot be read: {error}") from None


def _matches(data: bytes, pattern: re.Pattern[str], path: str) -> Iterator[Match]:
    if b"\0" in data:
        return
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        text = text_of_line(line)
        if pattern.search(text):
            yield Match(shown_name(path), number, text)


def _files(directory: int, above: str, depth: int) -> Iterator[Place]:
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return
    for name in names:
        if name in SKIPPED:
            continue
        path = f"{above}{name}"
        try:
            mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            if stat.S_ISREG(mode):
                yield Place(directory, name, path)
            elif stat.S_ISDIR(mode) and depth < _MAX_DEPTH:
                below = os.open(name, _STEP, dir_fd=directory)
                try:
                    yield from _files(below, f"{path}/", depth + 1)
                finally:
                    os.close(below)
        except OSError:
            continue
