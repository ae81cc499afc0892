"""A stream of lines, of which none takes more memory than it may."""

import re
from collections.abc import Callable
from dataclasses import dataclass

MAX_LINE_BYTES = 8 * 1024 * 1024
"""The longest message that is read: an answer at the cap, escaped, and once more as text."""

_HEAD_BYTES = 4 * 1024

_ID = rb'"id"\s*:\s*(\d{1,15})'
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"[^"]*"\s*,\s*)?' + _ID + rb"\s*,")
_ID_LAST = re.compile(rb",\s*" + _ID + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"[^"]*"\s*)?\}\s*$')


@dataclass(frozen=True)
class Overlong:
    """What is known of a line that was too long: its ends, and its length."""

    head: bytes
    tail: bytes
    size_bytes: int


def message_id(head: bytes, tail: bytes) -> int | None:
    """Tell which request a message answers that cannot be read as a whole, if it says so at an end of it."""
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    return None if found is None else int(found[1])


def as_number(request_id: int | str | None) -> int | str | None:
    """Give the id of a request as the number that it had, if it came back as text."""
    if isinstance(request_id, str) and re.fullmatch("[0-9]{1,15}", request_id):
        return int(request_id)
    return request_id


class Lines:
    """Cuts what it is fed into lines, and gives each away as soon as it is whole."""

    def __init__(
        self,
        *,
        on_line: Callable[[bytes], None],
        on_overlong: Callable[[Overlong], None],
        on_end: Callable[[], None],
        max_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self._on_line = on_line
        self._on_overlong = on_overlong
        self._on_end = on_end
        self._max_bytes = max_bytes
        self._begun = bytearray()
        self._left_out_bytes = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; none at all are the end."""
        if not chunk:
            self._on_end()
            return
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._take(piece)
            self._end_line()
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        self._begun += piece
        surplus = len(self._begun) - self._max_bytes
        if surplus > 0 or self._left_out_bytes:
            # Only its ends are kept from here on.
            surplus = max(len(self._begun) - 2 * _HEAD_BYTES, 0)
            del self._begun[_HEAD_BYTES : _HEAD_BYTES + surplus]
            self._left_out_bytes += surplus

    def _end_line(self) -> None:
        line, left_out_bytes = bytes(self._begun), self._left_out_bytes
        self._begun.clear()
        self._left_out_bytes = 0
        if left_out_bytes:
            size_bytes = len(line) + left_out_bytes
            self._on_overlong(Overlong(line[:_HEAD_BYTES], line[_HEAD_BYTES:], size_bytes))
        elif line.strip():
            self._on_line(line)
