"""The keys of payloads and stored objects: the first of them encrypts, and all of them decrypt."""

import base64
import binascii
import re
import secrets
from dataclasses import dataclass, field
from datetime import date

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from workflows.payloads import UnreadableError

CIPHER = "AES-256-GCM"
KEY_BYTES = 32
NONCE_BYTES = 12
TAG_BYTES = 16

# Shorter than any key in base64, so that a key in the place of its id is never taken and told for one.
_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_FORM = (
    "a key is written ID:KEY, the id as up to 40 letters, digits, - and _, "
    f"the key as {KEY_BYTES} bytes in base64; `surefoot keys new` makes one"
)


class KeyUnknownError(UnreadableError):
    """What was encrypted is readable elsewhere, or once its key is here."""


class NotAuthenticError(UnreadableError):
    """The key is here and does not open it: it was changed, or the key's bytes are others."""


class BadKeysError(ValueError):
    """One sentence on keys that cannot be used; no key is in it."""


@dataclass(frozen=True)
class Sealed:
    """Bytes that were encrypted: nonce, ciphertext and tag; `key_id` names the key."""

    key_id: str
    data: bytes


@dataclass(frozen=True)
class EncryptionKey:
    """A key by its id, which is not secret."""

    key_id: str
    secret: bytes = field(repr=False)


class Keyring:
    """Seals bytes for one purpose, and opens what it or another with the key has sealed for this purpose.

    The purpose, the cipher and the key's id are the associated data: what was sealed for one place is not
    taken for another's.
    """

    def __init__(self, keys: tuple[EncryptionKey, ...] = ()) -> None:
        """Seal with the first of the keys; without any, nothing can be sealed or opened."""
        self.key_ids = tuple(key.key_id for key in keys)
        self._ciphers = {key.key_id: AESGCM(key.secret) for key in keys}

    def __bool__(self) -> bool:
        """Tell whether there is a key."""
        return bool(self.key_ids)

    def seal(self, plain: bytes, *, purpose: str) -> Sealed:
        """Encrypt with the first key; raises IndexError where there is none."""
        key_id = self.key_ids[0]
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = self._ciphers[key_id].encrypt(nonce, plain, associated_data(purpose, key_id))
        return Sealed(key_id, nonce + sealed)

    def open(self, sealed: Sealed, *, purpose: str) -> bytes:
        """Decrypt with the key that is named.

        Raises:
            KeyUnknownError: it is not here.
            NotAuthenticError: it is, and does not open this.
        """
        cipher = self._ciphers.get(sealed.key_id)
        if cipher is None:
            raise KeyUnknownError(self._unknown(sealed.key_id))
        nonce, data = sealed.data[:NONCE_BYTES], sealed.data[NONCE_BYTES:]
        try:
            return cipher.decrypt(nonce, data, associated_data(purpose, sealed.key_id))
        except (InvalidTag, ValueError):
            raise NotAuthenticError(
                f"what names the encryption key '{sealed.key_id}' is not opened by the key of that id here: "
                "it was changed, or another key has this id"
            ) from None

    def _unknown(self, key_id: str) -> str:
        here = ", ".join(f"'{one}'" for one in self.key_ids)
        has = f"this process has only {here}" if here else "this process has no keys"
        return (
            f"this is encrypted with the key '{key_id}', and {has}: "
            "add it to SUREFOOT_ENCRYPTION_KEYS or SUREFOOT_ENCRYPTION_KEYS_FILE"
        )


def associated_data(purpose: str, key_id: str) -> bytes:
    """Give what is authenticated with a ciphertext and not written in it."""
    return f"surefoot-1:{purpose}:{CIPHER}:{key_id}".encode()


def parse_keys(text: str) -> Keyring:
    """Read keys as they are written: `ID:KEY`, with commas, spaces or lines between, and `#` for comments.

    Raises:
        BadKeysError: they cannot be used; the sentence tells which one, and not what it is.
    """
    words = [
        word for line in text.splitlines() for word in re.split(r"[\s,]+", line.partition("#")[0]) if word
    ]
    if not words:
        raise BadKeysError(f"there is no key: {_FORM}")
    keys = tuple(_key(word, number) for number, word in enumerate(words, start=1))
    ids = [key.key_id for key in keys]
    for twice in sorted({one for one in ids if ids.count(one) > 1}):
        raise BadKeysError(f"two keys have the id '{twice}': every key needs an id of its own")
    return Keyring(keys)


def new_key(today: date) -> str:
    """Make a key in the form in which it is read; its id is the day and what keeps it apart from others."""
    secret = base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode().rstrip("=")
    return f"{today.isoformat()}-{secrets.token_hex(2)}:{secret}"


def _key(word: str, number: int) -> EncryptionKey:
    key_id, colon, encoded = word.partition(":")
    if not colon or not _KEY_ID.fullmatch(key_id):
        raise BadKeysError(f"key {number} has no id that can be used: {_FORM}")
    plain = encoded.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        secret = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error:
        raise BadKeysError(f"the key '{key_id}' is no base64: {_FORM}") from None
    if len(secret) != KEY_BYTES:
        raise BadKeysError(f"the key '{key_id}' has {len(secret)} bytes: {_FORM}")
    return EncryptionKey(key_id, secret)
