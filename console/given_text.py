"""Texts and names that a command is given, checked to be what a server can carry."""

import sys
from pathlib import Path
from typing import BinaryIO

from console.errors import CommandError
from surefoot.sizes import MAX_MESSAGE_BYTES, MAX_PROMPT_BYTES, MAX_SYSTEM_BYTES, count
from surefoot.strict_json import is_unicode

STDIN = "-"
# What Temporal's server takes as an id, unless it is told otherwise.
_MAX_NAME_BYTES = 1000


def prompt_text(given: str) -> str:
    """Give the prompt: what was typed, or everything on stdin for `-`.

    Raises:
        CommandError: stdin is too long or no text.
    """
    if given != STDIN:
        return given
    return _read("the prompt on stdin", sys.stdin.buffer, MAX_PROMPT_BYTES)


def message_text(given: str) -> str:
    """Give a message: what was typed, or everything on stdin for `-`.

    Raises:
        CommandError: stdin is too long or no text, or what was typed is.
    """
    if given == STDIN:
        return _read("the message on stdin", sys.stdin.buffer, MAX_MESSAGE_BYTES)
    if not is_unicode(given):
        raise CommandError("the message holds bytes that are no UTF-8")
    return given


def system_text(file: Path) -> str:
    """Give a system prompt from its file.

    Raises:
        CommandError: the file cannot be read, is too long or no text.
    """
    return file_text(f"the system prompt {file}", file, MAX_SYSTEM_BYTES)


def file_text(name: str, file: Path, limit_bytes: int) -> str:
    """Give a text from its file; `name` says in an error what it was to be.

    Raises:
        CommandError: the file cannot be read, is too long or no text.
    """
    try:
        with file.open("rb") as stream:
            return _read(name, stream, limit_bytes)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}") from None


def _read(name: str, stream: BinaryIO, limit_bytes: int) -> str:
    # Nobody says that it ends: it may be a device.
    content = stream.read(limit_bytes + 1)
    if len(content) > limit_bytes:
        raise CommandError(f"{name} is above the limit of {count(limit_bytes)}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not UTF-8 text: byte {error.start} is not") from None


def checked_name(option: str, given: str | None) -> str | None:
    """Give a name that was passed with an option as it is; None if the option was not used.

    Raises:
        CommandError: no server can carry it, or it is empty, as an unset variable of a shell script is.
    """
    if given is None:
        return None
    if not given.strip():
        raise CommandError(f"{option} is empty; leave it out, or name something")
    if not (given.isprintable() and is_unicode(given)):
        raise CommandError(f"{option} {given!a} holds characters that cannot be printed")
    if len(given.encode()) > _MAX_NAME_BYTES:
        raise CommandError(f"{option} is longer than {count(_MAX_NAME_BYTES)}")
    return given
