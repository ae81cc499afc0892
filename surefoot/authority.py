"""Whose signed decisions a run takes: public keys, and how they are named."""

import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

PUBLIC_KEY_BYTES = 32
"""Of an Ed25519 key, as RFC 8032 encodes it."""

MAX_KEYS = 32
"""Keys of one run: each run of an agent that it calls is given them, too."""

_ENTRY = re.compile(r"(?:(?P<name>[A-Za-z0-9_.@-]{1,64}):)?(?P<key>[A-Za-z0-9_-]{43})")


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 key that decisions are checked with."""

    name: str
    """What people call it, else its id."""
    raw: bytes

    @property
    def id(self) -> str:
        """What a token names it by: the first 16 hexadecimal digits of its SHA-256."""
        return key_id(self.raw)


def key_id(raw: bytes) -> str:
    """Give what a token names a public key by."""
    return hashlib.sha256(raw).hexdigest()[:16]


def read_public_key(text: str) -> PublicKey:
    """Read `NAME:KEY` or `KEY`, which is 32 bytes in base64url without padding; raises ValueError."""
    if (found := _ENTRY.fullmatch(text)) is None:
        raise ValueError("a key is NAME:KEY or KEY, an Ed25519 public key of 43 characters in base64url")
    raw = base64url_bytes(found["key"])
    return PublicKey(found["name"] or key_id(raw), raw)


def public_key_text(raw: bytes, name: str | None = None) -> str:
    """Give what `read_public_key` reads."""
    return f"{name}:{base64url(raw)}" if name else base64url(raw)


def read_public_keys(text: str) -> tuple[str, ...]:
    """Read keys with commas, spaces or lines between, and `#` for comments; raises ValueError for none."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    if not (keys := tuple(key for line in lines for key in line.replace(",", " ").split())):
        raise ValueError("no key is named")
    return _told_apart(keys)


def base64url(data: bytes) -> str:
    """Encode without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def base64url_bytes(text: str) -> bytes:
    """Decode what is encoded without padding; raises ValueError."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", text) is None:
        raise ValueError("it is not base64url without padding")
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _told_apart(keys: tuple[str, ...]) -> tuple[str, ...]:
    read = [read_public_key(key) for key in keys]
    if len(keys) > MAX_KEYS:
        raise ValueError(f"there are {len(keys)} keys, and {MAX_KEYS} is the limit")
    if len({key.raw for key in read}) < len(read) or len({key.name for key in read}) < len(read):
        raise ValueError("two of the keys are the same, or have the same name")
    return keys


Authority = Annotated[tuple[str, ...], AfterValidator(_told_apart)]
"""Public keys as `read_public_key` reads them, each once and each with a name of its own."""


def key_named(authority: Sequence[str], key: str) -> PublicKey | None:
    """Give the key of an authority that has an id."""
    return next((one for one in map(read_public_key, authority) if one.id == key), None)
