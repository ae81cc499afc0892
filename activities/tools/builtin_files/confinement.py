"""Paths below one directory: no `..`, link or race leads a file tool out of it.

Every step is opened below the step before, and no step follows a link: a link is read, and its target is
walked in the same way. `..` goes back to the directory that was come from. So nothing is checked first and
used later, on any kernel; `openat2` would refuse absolute links although they lead to a place inside.
"""
# Importing pathlib would take longer than all that is done here.
# ruff: noqa: PTH116

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from activities.tools.builtin_files.refusal import RefusalError, outside

if TYPE_CHECKING:
    from collections.abc import Generator

_MAX_LINKS = 40
_MAX_DEPTH = 200
"""Directories that are open at once; Linux lets a process have 1,024."""

_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Place(NamedTuple):
    """A name in an open directory; whether something is there, and what, is yet to be seen."""

    directory: int
    """Its descriptor, good for names in it."""
    name: str
    """No link when it was looked at; `.` is the root itself."""
    path: str
    """As it was asked for."""


@contextmanager
def place_below(root: str | int, path: str, *, create_parents: bool = False) -> Generator[Place]:
    """Have the place of a path, relative to `root` or absolute; its directory is open within the block.

    `root` is a directory's path, or the descriptor of one that is open.

    Raises:
        RefusalError: it leads out of `root`.
        OSError: a step of it is missing, is no directory or cannot be entered.
    """
    if "\0" in path:
        raise RefusalError("a path cannot hold a null character")
    walk = _Walk(root, path, create=create_parents)
    try:
        yield walk.arrive()
    finally:
        walk.close()


def relative_to(root: str | int, path: str) -> str | None:
    """Give an absolute path as one that starts at `root`, however both are spelled; None if it is elsewhere.

    The rest may still lead anywhere: it has to be walked.
    """
    identity = os.stat(root)
    parts = path.split("/")
    for end in range(len(parts), 0, -1):
        try:
            found = os.stat("/".join(parts[:end]) or "/")
        except OSError:
            continue
        if os.path.samestat(found, identity):
            return "/".join(parts[end:])
    return None


class _Walk:
    """Where a walk has come to: the directories from the root on, and what is still to go."""

    def __init__(self, root: str | int, path: str, *, create: bool) -> None:
        self._root, self._path, self._create = root, path, create
        named, at = (".", root) if isinstance(root, int) else (root, None)
        self._open = [os.open(named, _STEP & ~os.O_NOFOLLOW, dir_fd=at)]
        self._ahead: list[str] = []
        self._links = 0

    def arrive(self) -> Place:
        self._plan(self._path)
        while self._ahead:
            step = self._ahead.pop()
            if step == "..":
                self._back()
            elif (target := self._link(step)) is not None:
                self._plan(target)
            elif not self._ahead:
                return Place(self._open[-1], step, self._path)
            else:
                self._enter(step)
        # The way ended with `..`: its directory is open itself.
        return Place(self._open[-1], ".", self._path)

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop())

    def _plan(self, path: str) -> None:
        if path.startswith("/"):
            inside = relative_to(self._root, path)
            if inside is None:
                raise outside(self._path)
            path = inside
            while len(self._open) > 1:
                os.close(self._open.pop())
        self._ahead += reversed([step for step in path.split("/") if step not in ("", ".")])

    def _back(self) -> None:
        if len(self._open) == 1:
            raise outside(self._path)
        os.close(self._open.pop())

    def _link(self, step: str) -> str | None:
        try:
            target = os.readlink(step, dir_fd=self._open[-1])
        except OSError as error:
            # EINVAL: it is no link. What is missing shows when it is entered, or used.
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise
        self._links += 1
        if self._links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return target

    def _enter(self, step: str) -> None:
        if len(self._open) > _MAX_DEPTH:
            raise RefusalError(f"{self._path!r} is more than {_MAX_DEPTH} directories deep")
        if self._create:
            with suppress(FileExistsError):
                os.mkdir(step, dir_fd=self._open[-1])
        self._open.append(os.open(step, _STEP, dir_fd=self._open[-1]))
