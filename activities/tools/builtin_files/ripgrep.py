"""A search by ripgrep, where it is installed."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from functools import partial
from typing import IO, TYPE_CHECKING, Any, cast

from activities.tools.builtin_files.confinement import place_below
from activities.tools.builtin_files.contents import MAX_FILE_BYTES, read_plain
from activities.tools.builtin_files.match import MAX_MATCHES, SKIPPED, Match, Wanted, text_of_line
from activities.tools.builtin_files.program import shown_name
from activities.tools.builtin_files.refusal import RefusalError

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONS = (
    *("--json", "--no-config", "--no-messages", "--hidden", "--no-ignore", "--sort=path", "--encoding=none"),
    "--crlf",
    f"--max-filesize={MAX_FILE_BYTES}",
)

_FAILED = 2
"""Its exit code, also where only one of many files could not be read."""

_MAX_SAID_BYTES = 2_000


def search_directory(executable: str, directory: int, wanted: Wanted) -> Iterator[Match]:
    """Search the files below an open directory, by name; no link is followed."""
    globs = [wanted.glob] if wanted.glob else []
    # The last one that matches counts.
    options = [f"--glob={glob}" for glob in [*globs, *(f"!{name}" for name in sorted(SKIPPED))]]
    for in_file in _run([executable, *_OPTIONS, *options], wanted, ".", directory=directory):
        yield from _confirmed(in_file, directory)


def search_file(executable: str, file: int, path: str, wanted: Wanted) -> Iterator[Match]:
    """Search an open file."""
    for in_file in _run([executable, *_OPTIONS], wanted, "-", file=file):
        for match in in_file:
            yield match._replace(path=path)


def _run(
    command: list[str], wanted: Wanted, where: str, *, directory: int | None = None, file: int | None = None
) -> Iterator[list[Match]]:
    case = "--case-sensitive" if wanted.case_sensitive else "--ignore-case"
    process = subprocess.Popen(
        [*command, case, f"--regexp={wanted.pattern}", "--", where],
        stdin=subprocess.DEVNULL if file is None else file,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # By its descriptor: its path may lead elsewhere by now.
        preexec_fn=None if directory is None else partial(os.fchdir, directory),
    )
    try:
        yield from _matches(cast("IO[bytes]", process.stdout))
        said = cast("IO[bytes]", process.stderr).read(_MAX_SAID_BYTES).decode("utf-8", "replace").strip()
        if process.wait() == _FAILED and said:
            raise RefusalError(f"ripgrep says: {said}")
    finally:
        # However the search ends: enough was found, or the time is over.
        process.kill()
        process.wait()


def _matches(lines: IO[bytes]) -> Iterator[list[Match]]:
    """Give the matches of each file at its end: only then is it known to be text."""
    found: list[Match] = []
    for line in lines:
        message: dict[str, Any] = json.loads(line)
        if message["type"] == "match" and len(found) <= MAX_MATCHES:
            found.append(_match(message["data"]))
        elif message["type"] == "end":
            if message["data"].get("binary_offset") is None:
                yield found
            found = []


def _confirmed(found: list[Match], directory: int) -> Iterator[Match]:
    """Give the matches that are in the file: it was opened by name, and a link can have stood there."""
    if not found:
        return
    path = found[0].path
    try:
        with place_below(directory, path) as place:
            lines = read_plain(place).split(b"\n")
    except (OSError, RefusalError):
        return
    for match in found:
        if match.line <= len(lines) and text_of_line(lines[match.line - 1]) == match.text:
            yield match._replace(path=shown_name(path))


def _match(data: dict[str, Any]) -> Match:
    path = os.fsdecode(_bytes(data["path"])).removeprefix("./")
    return Match(path, data["line_number"], text_of_line(_bytes(data["lines"])))


def _bytes(said: dict[str, str]) -> bytes:
    return said["text"].encode() if "text" in said else base64.b64decode(said["bytes"])
