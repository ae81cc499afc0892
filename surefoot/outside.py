"""Paths in the arguments of a call that lead out of a directory, as far as their text tells."""

import re
from collections.abc import Iterator, Mapping
from posixpath import isabs, join, normpath

from pydantic import JsonValue

from surefoot.truncation import truncate

_MAX_SHOWN_BYTES = 200
_HARMLESS = ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr")

# What stands between the words of a command line.
_BETWEEN_WORDS = re.compile(r"[\s'\"`;|&<>()=,]+")


def outside_path(params: Mapping[str, JsonValue], directory: str | None) -> str | None:
    """Give the first word of the texts that looks like a path outside of the directory; None is none.

    Only the text decides: links are not followed, and what a program makes of its arguments is not known. It
    is a hint for whoever decides, and no sandbox.
    """
    root = None if directory is None else normpath(directory)
    found = next((word for word in _words(dict(params)) if _leads_out(word, root)), None)
    return None if found is None else truncate(found, _MAX_SHOWN_BYTES).text


def _words(value: JsonValue) -> Iterator[str]:
    for text in _texts(value):
        yield from _BETWEEN_WORDS.split(text)
        # The name of a file may hold what stands between words.
        yield text


def _leads_out(word: str, root: str | None) -> bool:
    path = word.removeprefix("file://")
    if path.startswith("~"):
        return True
    if path in _HARMLESS or not (isabs(path) or ".." in path.split("/")):
        return False
    if root is None:
        return isabs(path) or normpath(path).split("/")[0] == ".."
    there = normpath(join(root, path))
    return there != root and not there.startswith(root.rstrip("/") + "/")


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _texts(one)
        case dict():
            for name, one in value.items():
                yield name
                yield from _texts(one)
        case _:
            pass
