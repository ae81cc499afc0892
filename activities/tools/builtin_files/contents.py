"""What is in a file, as far as it is text."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from activities.tools.builtin_files.refusal import RefusalError

if TYPE_CHECKING:
    from activities.tools.builtin_files.confinement import Place

MAX_FILE_BYTES = 32 * 1024 * 1024
"""The largest file that is read; an artifact is no larger either."""

_LOOKED_AT_BYTES = 8_000
"""Where a null byte tells a binary file, as it does for git."""

_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


def kind_of(mode: int) -> str:
    """Name what a mode says that something is."""
    kinds = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "directory",
        stat.S_IFLNK: "symlink",
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
    }
    return kinds.get(stat.S_IFMT(mode), "device")


def check_plain(status: os.stat_result, path: str) -> None:
    """Raise a RefusalError for what is no plain file."""
    kind = kind_of(status.st_mode)
    if kind == "directory":
        raise RefusalError(f"{path!r} is a directory")
    if kind != "file":
        raise RefusalError(f"{path!r} is no file but a {kind}")


def open_plain(place: Place) -> int:
    """Open a plain file for reading and give its descriptor; nothing else is opened, or waited for.

    Raises:
        RefusalError: it is no plain file, or too large.
        OSError: it cannot be opened.
    """
    # Looked at first, because there are devices that do something when they are opened.
    check_plain(os.stat(place.name, dir_fd=place.directory, follow_symlinks=False), place.path)
    descriptor = os.open(place.name, _OPEN, dir_fd=place.directory)
    try:
        status = os.fstat(descriptor)
        check_plain(status, place.path)
        _check_size(status.st_size, place.path)
    except RefusalError:
        os.close(descriptor)
        raise
    return descriptor


def read_plain(place: Place) -> bytes:
    """Read a plain file whole.

    Raises:
        RefusalError: it is no plain file, or too large.
        OSError: it cannot be read.
    """
    with os.fdopen(open_plain(place), "rb") as file:
        # It may have grown since, or be one whose size the system does not tell.
        data = file.read(MAX_FILE_BYTES + 1)
    _check_size(len(data), place.path)
    return data


def is_binary(data: bytes) -> bool:
    """Tell whether it looks like anything but text."""
    return b"\0" in data[:_LOOKED_AT_BYTES]


def text_of(data: bytes, path: str) -> str:
    """Give the text of a file's bytes, with the line endings that it has.

    Raises:
        RefusalError: it is none; it is named, so that nothing of it has to be shown.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise RefusalError(f"{path!r} is UTF-16 text of {len(data):,} bytes; only UTF-8 is read here")
    if is_binary(data):
        raise RefusalError(f"{path!r} is a binary file of {len(data):,} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RefusalError(
            f"{path!r} is no UTF-8 text: the byte 0x{data[error.start]:02x} in line {line:,} is none"
        ) from None


def lines_of(text: str) -> list[str]:
    """Give the lines without their endings and without a byte order mark; only \\n and \\r\\n end a line."""
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _check_size(size_bytes: int, path: str) -> None:
    if size_bytes > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // 1024 // 1024
        raise RefusalError(f"{path!r} is too large: {size_bytes:,} bytes, and the limit is {limit} MB")
