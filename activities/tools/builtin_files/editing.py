"""edit_file: one text in a file replaced by another, exactly."""

from __future__ import annotations

import re

from activities.tools.builtin_files.confinement import place_below
from activities.tools.builtin_files.contents import lines_of, read_plain, text_of
from activities.tools.builtin_files.numbered import numbered
from activities.tools.builtin_files.program import ROOT, Answer, fitting
from activities.tools.builtin_files.refusal import RefusalError
from activities.tools.builtin_files.replacing import held, replace

NOTHING: Answer = {"replacements": None, "snippet": ""}

_LINES_AROUND = 3
_MAX_SNIPPET_LINES = 60
_MAX_PLACES = 10

_ENDING = r"(?:\r\n|(?<!\r)\n)"
"""A line's ending, never half of one."""


def edit_file(path: str, old_string: str, new_string: str, replace_all: bool = False) -> Answer:
    """Replace a text that is there once, or all of it that is there.

    Raises:
        RefusalError: it is not there, or more than once; or the file is no text.
        OSError: the file cannot be read or written.
    """
    with place_below(ROOT, path) as place, held(place):
        before = text_of(read_plain(place), path)
        after, first, replacements = edited(before, old_string, new_string, replace_all=replace_all)
        replace(place, after.encode())
    return {"replacements": replacements, "snippet": _snippet(after, first, new_string)}


def edited(text: str, old: str, new: str, *, replace_all: bool) -> tuple[str, int, int]:
    """Give the new text, where its first change begins, and how many there are.

    A line may end in \\n in `old` and in \\r\\n in the text; what comes in ends its lines as what goes out
    did, or as most of the text does.

    Raises:
        RefusalError: what is to be replaced is not there, or not unique.
    """
    if old == new:
        raise RefusalError("old_string and new_string are the same")
    found = _found(text, old)
    if not found:
        raise RefusalError(f"old_string is not in the file{_hint(text, old)}", "not_found")
    if len(found) > 1 and not replace_all:
        raise RefusalError(_not_unique(text, found))
    chosen = _apart(found)
    pieces: list[str] = []
    at = 0
    for begin, end in chosen:
        pieces += [text[at:begin], _with_endings(new, text[begin:end], text)]
        at = end
    return "".join([*pieces, text[at:]]), chosen[0][0], len(chosen)


def _found(text: str, old: str) -> list[tuple[int, int]]:
    """Find all places, those that overlap as well: a text that fits in two ways is not unique."""
    if "\n" in old and ("\r\n" in text or "\r\n" in old):
        lines = [re.escape(line) for line in old.replace("\r\n", "\n").split("\n")]
        return [match.span(1) for match in re.finditer(f"(?=({_ENDING.join(lines)}))", text)]
    places: list[tuple[int, int]] = []
    at = text.find(old)
    while at >= 0:
        places.append((at, at + len(old)))
        at = text.find(old, at + 1)
    return places


def _apart(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    chosen = places[:1]
    chosen_end = chosen[0][1]
    for begin, end in places[1:]:
        if begin >= chosen_end:
            chosen.append((begin, end))
            chosen_end = end
    return chosen


def _with_endings(new: str, replaced: str, text: str) -> str:
    sample = replaced if "\n" in replaced else text
    crlf = sample.count("\r\n")
    ending = "\r\n" if crlf > sample.count("\n") - crlf else "\n"
    return new.replace("\r\n", "\n").replace("\n", ending)


def _not_unique(text: str, found: list[tuple[int, int]]) -> str:
    lines = [f"{_line_of(text, begin):,}" for begin, _ in found[:_MAX_PLACES]]
    more = " and more" if len(found) > _MAX_PLACES else ""
    return (
        f"old_string is in the file {len(found):,} times, on lines {', '.join(lines)}{more}: "
        "give more of what is around the one that is meant, or set replace_all"
    )


def _hint(text: str, old: str) -> str:
    """Name a place that differs in white space alone, which is what a model gets wrong most."""
    wanted = [" ".join(line.split()) for line in old.strip().splitlines()]
    there = [" ".join(line.split()) for line in lines_of(text)]
    for at in range(len(there) - len(wanted) + 1):
        if wanted and there[at : at + len(wanted)] == wanted:
            return f"; line {at + 1:,} differs from it in white space alone"
    return ""


def _line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _snippet(text: str, at: int, new: str) -> str:
    line = _line_of(text, at)
    first = max(line - _LINES_AROUND, 1)
    last = line + new.count("\n") + _LINES_AROUND
    shown = lines_of(text)[first - 1 : min(last, first - 1 + _MAX_SNIPPET_LINES)]
    return "\n".join(fitting(numbered(shown, first)))
