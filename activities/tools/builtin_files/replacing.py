"""A file replaced at once: whoever reads it finds the old one or the new one, whole."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from activities.tools.builtin_files.contents import check_plain
from activities.tools.builtin_files.refusal import RefusalError

if TYPE_CHECKING:
    from collections.abc import Generator

    from activities.tools.builtin_files.confinement import Place


@contextmanager
def held(place: Place) -> Generator[None]:
    """Keep every other file tool, of any run, from writing in this directory meanwhile."""
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.directory)
    except PermissionError:
        # It may be written to, but not be listed.
        yield
        return
    try:
        # Not every file system knows locks.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def replace(place: Place, data: bytes) -> bool:
    """Write a file, in place of the one that is there; its mode and owner stay. Gives whether one was.

    Raises:
        RefusalError: what is there is no plain file, or may not be written to.
        OSError: it cannot be written; then nothing has changed.
    """
    before = _status(place)
    if before is not None:
        check_plain(before, place.path)
        if not os.access(place.name, os.W_OK, dir_fd=place.directory):
            raise RefusalError(f"{place.path!r} may not be written to")
    temporary = f".surefoot-{os.urandom(6).hex()}"
    options = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, options, 0o666, dir_fd=place.directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _take_after(before, descriptor)
        os.replace(temporary, place.name, src_dir_fd=place.directory, dst_dir_fd=place.directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=place.directory)
        raise
    return before is not None


def _status(place: Place) -> os.stat_result | None:
    try:
        return os.stat(place.name, dir_fd=place.directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _take_after(before: os.stat_result | None, descriptor: int) -> None:
    if before is None:
        return
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    # After the owner, whose change takes bits away.
    os.fchmod(descriptor, before.st_mode & 0o7777)
