"""A store whose objects are encrypted where they are kept."""

import asyncio
from pathlib import Path
from typing import Protocol

from activities.store.store import Store, StoredObject


class Cipher(Protocol):
    """Turns objects into what is kept of them, and back; `name` is an object's key in the store."""

    @property
    def seals(self) -> bool:
        """Whether what it gives is another thing than the object."""
        ...

    def sealed(self, data: bytes, *, name: str) -> bytes:
        """Give what is to be kept."""
        ...

    def opened(self, data: bytes, *, name: str) -> bytes:
        """Give the object; raises StoreUnavailableError where it cannot."""
        ...


class SealedStore:
    """Another store's objects through a cipher; the sizes that are listed are of what is kept."""

    def __init__(self, kept: Store, cipher: Cipher) -> None:
        self._kept = kept
        self._cipher = cipher

    @property
    def location(self) -> str:
        """Where the other store is."""
        return self._kept.location

    async def put(self, key: str, data: bytes) -> None:
        """Keep an object."""
        # In a thread: it may be many megabytes, while tools here have to beat.
        await self._kept.put(key, await asyncio.to_thread(self._cipher.sealed, data, name=key))

    async def get(self, key: str) -> bytes:
        """Give an object; raises NotStoredError."""
        return await asyncio.to_thread(self._cipher.opened, await self._kept.get(key), name=key)

    async def delete(self, key: str) -> None:
        """Remove an object."""
        await self._kept.delete(key)

    async def list(self, prefix: str = "") -> tuple[StoredObject, ...]:
        """List what is below a prefix."""
        return await self._kept.list(prefix)

    def file(self, key: str) -> Path | None:
        """Give the file of an object, None where nobody could read it without the cipher."""
        file = self._kept.file(key)
        return None if self._cipher.seals else file
