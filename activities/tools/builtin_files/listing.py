"""list_dir: what is in a directory."""

from __future__ import annotations

import heapq
import os
from typing import TYPE_CHECKING

from activities.tools.builtin_files.confinement import place_below
from activities.tools.builtin_files.contents import kind_of
from activities.tools.builtin_files.program import ROOT, Answer, fitting, shown_name
from activities.tools.builtin_files.refusal import RefusalError

if TYPE_CHECKING:
    from activities.tools.builtin_files.confinement import Place

NOTHING: Answer = {"entries": [], "total": None, "truncated": False}

_MAX_ENTRIES = 1_000
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def list_dir(path: str = ROOT) -> Answer:
    """List the entries by name, at most 1,000 of them.

    Raises:
        RefusalError: it is no directory.
        OSError: it cannot be read.
    """
    with place_below(ROOT, path) as place:
        descriptor = open_directory(place)
        try:
            with os.scandir(descriptor) as entries:
                names = [entry.name for entry in entries]
            first = heapq.nsmallest(_MAX_ENTRIES, names)
            shown = fitting(_entry(name, descriptor) for name in first)
        finally:
            os.close(descriptor)
    return {"entries": shown, "total": len(names), "truncated": len(shown) < len(names)}


def open_directory(place: Place) -> int:
    """Open the directory of a place.

    Raises:
        RefusalError: it is no directory.
        OSError: it cannot be opened.
    """
    try:
        return os.open(place.name, _OPEN, dir_fd=place.directory)
    except NotADirectoryError:
        raise RefusalError(f"{place.path!r} is no directory") from None


def _entry(name: str, directory: int) -> dict[str, object]:
    entry: dict[str, object] = {"name": shown_name(name)}
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        # It has gone since.
        return {**entry, "kind": "gone"}
    kind = kind_of(status.st_mode)
    entry["kind"] = kind
    if kind == "file":
        entry["bytes"] = status.st_size
    if kind == "symlink":
        entry["target"] = _target(name, directory)
    return entry


def _target(name: str, directory: int) -> str:
    try:
        return shown_name(os.readlink(name, dir_fd=directory))
    except OSError:
        return ""
