"""search: lines of files that match a regular expression."""

from __future__ import annotations

import os
import shutil
import signal
import stat
from contextlib import closing, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

from activities.tools.builtin_files import python_search, ripgrep
from activities.tools.builtin_files.confinement import place_below
from activities.tools.builtin_files.contents import open_plain
from activities.tools.builtin_files.listing import open_directory
from activities.tools.builtin_files.match import Match, Wanted
from activities.tools.builtin_files.numbered import shortened
from activities.tools.builtin_files.program import ROOT, Answer, fitting
from activities.tools.builtin_files.reading import readable
from activities.tools.builtin_files.refusal import outside

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from activities.tools.builtin_files.confinement import Place

NOTHING: Answer = {"matches": [], "truncated": False}

_MAX_TEXT_CHARACTERS = 500
_SHARE_OF_TIME = 0.8
"""Of the tool's own timeout: it answers, with what it has found, before it is killed."""


class _TimeOverError(Exception):
    """Raised wherever the search is, be it inside of a regular expression's engine."""


def search(
    pattern: str, path: str = ROOT, glob: str = "", case: str = "sensitive", max_results: int = 100
) -> Answer:
    """Find at most `max_results` lines, file by file in the order of their names.

    Raises:
        RefusalError: the pattern or the glob cannot be read, or the path is neither file nor directory.
        OSError: there is no such path, or it cannot be read.
    """
    root, inside = readable(path)
    most = int(max_results)
    wanted = Wanted(pattern, glob, case == "sensitive")
    found: list[Match] = []
    in_time = True
    with place_below(root, inside) as place:
        every = _matches(place, path, wanted, only_file=root != ROOT)
        with closing(every), suppress(_TimeOverError):
            in_time = False
            with _limited_time():
                # What it has taken before the time is over stays.
                found.extend(islice(every, most + 1))
            in_time = True
    shown = fitting(_line(match) for match in found[:most])
    answer: Answer = {"matches": shown, "truncated": len(shown) < len(found) or not in_time}
    return answer if in_time else {**_OUT_OF_TIME, **answer}


_OUT_OF_TIME: Answer = {
    "success": False,
    "error": "the search took too long and was stopped: name a smaller path or a glob, or a simpler pattern",
    "error_code": "timeout",
}


def _matches(place: Place, path: str, wanted: Wanted, *, only_file: bool) -> Generator[Match]:
    mode = os.stat(place.name, dir_fd=place.directory, follow_symlinks=False).st_mode
    if not stat.S_ISDIR(mode):
        opened, above = open_plain(place), ""
        found = _in_file(opened, path, wanted)
    elif only_file:
        raise outside(path)
    else:
        opened, above = open_directory(place), "" if path == ROOT else f"{path.rstrip('/')}/"
        found = _in_directory(opened, wanted)
    try:
        for match in found:
            yield match._replace(path=above + match.path)
    finally:
        os.close(opened)


def _in_file(file: int, path: str, wanted: Wanted) -> Iterator[Match]:
    engine = shutil.which("rg")
    if engine is None:
        return python_search.search_file(file, path, wanted)
    return ripgrep.search_file(engine, file, path, wanted)


def _in_directory(directory: int, wanted: Wanted) -> Iterator[Match]:
    engine = shutil.which("rg")
    if engine is None:
        return python_search.search_directory(directory, wanted)
    return ripgrep.search_directory(engine, directory, wanted)


def _line(match: Match) -> dict[str, object]:
    return {"path": match.path, "line": match.line, "text": shortened(match.text, _MAX_TEXT_CHARACTERS)}


@contextmanager
def _limited_time() -> Generator[None]:
    """Raise a _TimeOverError when most of the call's time is over."""
    seconds = float(os.environ.get("SUREFOOT_TIMEOUT_SECONDS", "30")) * _SHARE_OF_TIME
    before = signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stop(*_: object) -> None:
    raise _TimeOverError
