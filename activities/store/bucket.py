"""A store in a bucket of an S3-compatible service, or in memory."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import MemoryStore

from activities.store.store import NotStoredError, StoredObject, StoreUnavailableError, checked_key, is_key

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_NO_BUCKET = "NoSuchBucket"
_DENIED = "access was denied; check the credentials and their rights"
_STATUS = re.compile(r"\b(?:status code|status|HTTP|error): (\d{3}\b[ A-Za-z]*)")


class BucketStore:
    """Objects in what the library obstore serves; `location` is how sentences call it."""

    def __init__(self, objects: ObjectStore, *, location: str) -> None:
        self._objects = objects
        self._location = location

    @property
    def location(self) -> str:
        """What was given as such."""
        return self._location

    async def put(self, key: str, data: bytes) -> None:
        """Keep an object."""
        with self._unavailable("written to"):
            await obstore.put_async(self._objects, checked_key(key), data, use_multipart=False)

    async def get(self, key: str) -> bytes:
        """Give an object; raises NotStoredError."""
        with self._unavailable("read", key=checked_key(key)):
            found = await obstore.get_async(self._objects, key)
            return bytes(await found.bytes_async())

    async def delete(self, key: str) -> None:
        """Remove an object."""
        try:
            with self._unavailable("written to", key=checked_key(key)):
                await obstore.delete_async(self._objects, key)
        except NotStoredError:
            return

    async def list(self, prefix: str = "") -> tuple[StoredObject, ...]:
        """List what is below a prefix."""
        below = f"{checked_key(prefix)}/" if prefix else None
        # Its overloads name the types of a library for tables that nobody needs here.
        listing = obstore.list(self._objects, prefix=below)  # pyright: ignore[reportUnknownMemberType]
        with self._unavailable("read"):
            found = [
                StoredObject(one["path"], one["size"], one["last_modified"].astimezone(UTC))
                async for chunk in listing
                for one in chunk
                if is_key(one["path"])
            ]
        return tuple(sorted(found, key=lambda one: one.key))

    def file(self, key: str) -> Path | None:
        """Give None: no object is in a file."""
        checked_key(key)
        return None

    @contextmanager
    def _unavailable(self, wanted: str, *, key: str | None = None) -> Generator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if key is not None and _NO_BUCKET not in str(error):
                raise NotStoredError(f"there is no '{key}' in the store {self._location}") from None
            raise self._error(wanted, "there is no such bucket") from None
        except (PermissionDeniedError, UnauthenticatedError):
            raise self._error(wanted, _DENIED) from None
        except BaseError as error:
            raise self._error(wanted, _reason(str(error))) from None

    def _error(self, wanted: str, reason: str) -> StoreUnavailableError:
        return StoreUnavailableError(f"the store {self._location} cannot be {wanted}: {reason}")


def memory_store() -> BucketStore:
    """Give an empty store that is gone with this process."""
    return BucketStore(MemoryStore(), location="memory")


def _reason(message: str) -> str:
    """Say why in a phrase; the library's own words may quote the service's answer, keys included."""
    if _NO_BUCKET in message:
        return "there is no such bucket"
    status = _STATUS.search(message)
    if status is not None and status[1][:3] in ("401", "403"):
        return _DENIED
    if status is not None:
        return f"the service answered {status[1].strip()}"
    if "error sending request" in message or "connect" in message:
        return "the service cannot be reached"
    return "the service gave no answer that can be used"
