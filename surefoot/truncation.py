"""Text that keeps within a limit and says what was left out (the form of seeds/004)."""

import re
from typing import NamedTuple

from surefoot.sizes import count

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Shortened(NamedTuple):
    """A text within its limit, and whether anything was left out of it."""

    text: str
    truncated: bool


def truncate(text: str, limit_bytes: int) -> Shortened:
    """The text within `limit_bytes` of UTF-8: whole if it fits, else its head and what was left out.

    The marker that says so counts towards the limit; where it has no room the head stands alone. Lone
    surrogates become U+FFFD.
    """
    encoded = _encode(text)
    if len(encoded) <= limit_bytes:
        return Shortened(encoded.decode(), truncated=False)
    room = limit_bytes - len(_marker(len(encoded), limit_bytes))
    if room < 0:
        return Shortened(_first(encoded, limit_bytes), truncated=True)
    head = _first(encoded, room)
    return Shortened(head + _marker(len(encoded) - _size(head), limit_bytes), truncated=True)


def keep_ends(text: str, limit_bytes: int, *, room_bytes: int | None = None) -> str:
    """The text within `limit_bytes` of UTF-8, as `truncate` gives it, but with its tail after the marker.

    For what was captured before a failure: the last lines often say why. `room_bytes` is what the text may
    take where that is less than the limit that is named.
    """
    encoded = _encode(text)
    if len(encoded) <= (limit_bytes if room_bytes is None else room_bytes):
        return encoded.decode()
    return join_ends(text, text, total_bytes=len(encoded), limit_bytes=limit_bytes, room_bytes=room_bytes)


def join_ends(
    head: str, tail: str, *, total_bytes: int, limit_bytes: int, room_bytes: int | None = None
) -> str:
    """What `keep_ends` gives for a text of which only the head and the tail are at hand.

    `total_bytes` is the size of the whole text and is above the limit; head and tail may overlap, and each
    holds at least `limit_bytes` of it.
    """
    whole_room = limit_bytes if room_bytes is None else room_bytes
    room = whole_room - len(_marker(total_bytes, limit_bytes)) - len("\n")
    if room < 0:
        return _first(_encode(head), whole_room)
    kept_head = _first(_encode(head), room - room // 2)
    kept_tail = _last(_encode(tail), room // 2)
    left_out_bytes = total_bytes - _size(kept_head) - _size(kept_tail)
    return f"{kept_head}{_marker(left_out_bytes, limit_bytes)}\n{kept_tail}"


def _marker(left_out_bytes: int, limit_bytes: int) -> str:
    limit = count(limit_bytes)
    return f"\n... [{left_out_bytes:,} more bytes] ...\n\n[OUTPUT TRUNCATED - exceeded {limit} limit]"


def _encode(text: str) -> bytes:
    return _LONE_SURROGATE.sub("\ufffd", text).encode()


def _size(text: str) -> int:
    return len(text.encode())


def _first(encoded: bytes, size_bytes: int) -> str:
    # The bytes are valid UTF-8, so all that can be ignored is a character that the cut split.
    return encoded[: max(size_bytes, 0)].decode(errors="ignore")


def _last(encoded: bytes, size_bytes: int) -> str:
    return encoded[len(encoded) - min(size_bytes, len(encoded)) :].decode(errors="ignore")
