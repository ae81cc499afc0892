"""The private key of somebody who decides about calls: made, read, and signed with."""

import os
import secrets
import stat
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from surefoot.authority import base64url, key_id
from surefoot.decision_token import Asking, Signing, decision_of, signed_text, token_text
from surefoot.run import Approve, Deny

VALIDITY = timedelta(minutes=10)
"""How long a decision holds that nobody gives another time: it is sent at once, or pasted into a form."""

_MAX_FILE_BYTES = 64 * 1024
_NONCE_BYTES = 16


class AuthorityKeyError(ValueError):
    """One sentence on a file that no key can be had from; nothing of its content is in it."""


@dataclass(frozen=True)
class AuthorityKey:
    """An Ed25519 private key."""

    private: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> bytes:
        """Give the 32 bytes that its signatures are checked with."""
        return self.private.public_key().public_bytes_raw()

    def token(self, request: Approve | Deny, asking: Asking, validity: timedelta = VALIDITY) -> str:
        """Sign a decision, for the run that asks and for so long from now on."""
        expires = int((datetime.now(UTC) + validity).timestamp())
        nonce = base64url(secrets.token_bytes(_NONCE_BYTES))
        text = signed_text(decision_of(request, asking, Signing(key_id(self.public), expires, nonce)))
        return token_text(text, self.private.sign(text.encode()))


def make_key(file: Path) -> AuthorityKey:
    """Make a key, and write it as PEM to a new file that only its owner can read.

    Raises:
        AuthorityKeyError: the file cannot be made, or is there already.
    """
    key = AuthorityKey(Ed25519PrivateKey.generate())
    pem = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise AuthorityKeyError(f"the key cannot be written to {file}: {error.strerror}") from None
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(pem)
    return key


def read_key(file: Path) -> AuthorityKey:
    """Read a key from a file in PEM, as `make_key` and `openssl genpkey` write it.

    Raises:
        AuthorityKeyError: it cannot be read, is readable by others, or holds no such key.
    """
    pem = _owners_own(file)
    try:
        private = load_pem_private_key(pem, password=None)
    except TypeError:
        raise AuthorityKeyError(f"the key in {file} has a passphrase, and none can be given here") from None
    except (ValueError, UnsupportedAlgorithm):
        raise AuthorityKeyError(f"{file} holds no private key in PEM that can be read") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise AuthorityKeyError(f"the key in {file} is of another kind than Ed25519")
    return AuthorityKey(private)


def _owners_own(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            content = stream.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise AuthorityKeyError(f"the key file {file} cannot be read: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise AuthorityKeyError(f"the key file {file} is open to others than its owner: `chmod 600 {file}`")
    return content
