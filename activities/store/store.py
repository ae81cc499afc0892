"""Where a worker keeps what is too large for a history: objects of bytes, by key."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

MAX_KEY_LENGTH = 800
"""Characters of a key; S3 takes 1,024 bytes, with the prefix that a store may have."""

_MAX_PART_LENGTH = 200
_PART = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9._-]{{0,{_MAX_PART_LENGTH - 1}}}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_READABLE_LENGTH = 80


class NotStoredError(LookupError):
    """One sentence: there is no object of this key."""


class StoreUnavailableError(RuntimeError):
    """One sentence on a store that cannot be used now, or not as it is set up; no secret is in it."""


@dataclass(frozen=True)
class StoredObject:
    """One object as a listing shows it."""

    key: str
    size_bytes: int
    stored_at: datetime
    """In UTC."""


class Store(Protocol):
    """Objects by key. A key is text that `is_key` accepts; anything else is a ValueError.

    Every method that waits raises StoreUnavailableError where the store cannot be used.
    """

    @property
    def location(self) -> str:
        """Where it is: a directory, or the URL of a bucket."""
        ...

    async def put(self, key: str, data: bytes) -> None:
        """Keep an object, in place of an earlier one of this key; a reader finds one of both, whole."""
        ...

    async def get(self, key: str) -> bytes:
        """Give an object; raises NotStoredError where there is none."""
        ...

    async def delete(self, key: str) -> None:
        """Remove an object; nothing happens where there is none."""
        ...

    async def list(self, prefix: str = "") -> tuple[StoredObject, ...]:
        """List by key what is below `prefix`, which is whole parts of a key; all of it without one."""
        ...

    def file(self, key: str) -> Path | None:
        """Give the file that an object of this key is in; None where the store has no files."""
        ...


def is_key(text: str) -> bool:
    """Tell whether a text can be a key: parts of letters, digits, `_`, `-` and `.`, with `/` between them.

    No part begins with `.` or `-`, so that none is hidden, leads upwards or looks like an option.
    """
    return len(text) <= MAX_KEY_LENGTH and all(_PART.fullmatch(part) for part in text.split("/"))


def checked_key(key: str) -> str:
    """Give the key back; raises ValueError if it is none."""
    if not is_key(key):
        raise ValueError(f"{key!r} is no key of a store")
    return key


def key_part(text: str) -> str:
    """Give any text, such as a workflow's id, as one part of a key: itself if it can be, else like it.

    Two texts never give the same part, but for a collision of SHA-256 at 64 bits.
    """
    if _PART.fullmatch(text) and len(text) <= _READABLE_LENGTH and "." not in text:
        return text
    readable = _UNSAFE.sub("_", text[:_READABLE_LENGTH]).lstrip("-") or "_"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # The dot keeps it apart from every text that is a part as it is.
    return f"{readable}.{digest}"
