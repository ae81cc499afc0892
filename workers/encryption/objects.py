"""Objects of a store as they are kept: encrypted for the key, the name in the store, that they have."""

from activities.store.store import StoreUnavailableError
from workers.encryption.keys import Keyring, Sealed
from workflows.payloads import UnreadableError

HEAD = b"surefoot-sealed-1\n"
"""What a sealed object begins with; then come the id of its encryption key, a line feed, and the rest."""


class ObjectCipher:
    """Seals with the first key of a ring; what was kept before there was a key stays readable."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    @property
    def seals(self) -> bool:
        """Whether there is a key."""
        return bool(self._keyring)

    def sealed(self, data: bytes, *, name: str) -> bytes:
        """Encrypt an object for the key of the store that it is put under."""
        if not self._keyring:
            return data
        sealed = self._keyring.seal(data, purpose=_purpose(name))
        return b"".join((HEAD, sealed.key_id.encode(), b"\n", sealed.data))

    def opened(self, data: bytes, *, name: str) -> bytes:
        """Decrypt an object; raises StoreUnavailableError where the key is not here, or does not open it."""
        if not data.startswith(HEAD):
            return data
        key_id, _, rest = data[len(HEAD) :].partition(b"\n")
        sealed = Sealed(key_id.decode("utf-8", "replace"), rest)
        try:
            return self._keyring.open(sealed, purpose=_purpose(name))
        except UnreadableError as error:
            raise StoreUnavailableError(f"'{name}' in the store cannot be read: {error}") from None


def _purpose(name: str) -> str:
    return f"object:{name}"
