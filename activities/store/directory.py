"""A store in a directory of this machine: one file for each object."""

import asyncio
import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from activities.store.store import (
    NotStoredError,
    StoredObject,
    StoreUnavailableError,
    checked_key,
    is_key,
)

_PUT_ATTEMPTS = 5
"""Whoever deletes the last object of a directory removes the directory, perhaps just before a write."""


class DirectoryStore:
    """Objects as files that only their owner can read: what is put is on the disk, whole or not at all.

    The directory is created when the first object is.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @property
    def location(self) -> str:
        """The directory."""
        return str(self.directory)

    async def put(self, key: str, data: bytes) -> None:
        """Keep an object; it is on the disk when this returns."""
        await asyncio.to_thread(self._put, self._path(key), data)

    async def get(self, key: str) -> bytes:
        """Give an object; raises NotStoredError."""
        return await asyncio.to_thread(self._get, self._path(key))

    async def delete(self, key: str) -> None:
        """Remove an object, and the directories that are empty without it."""
        await asyncio.to_thread(self._delete, self._path(key))

    async def list(self, prefix: str = "") -> tuple[StoredObject, ...]:
        """List what is below a prefix."""
        below = self._path(prefix) if prefix else self.directory
        return await asyncio.to_thread(self._list, below)

    def file(self, key: str) -> Path:
        """Give the file of an object, whether it is there or not."""
        return self._path(key)

    def _path(self, key: str) -> Path:
        return self.directory / checked_key(key)

    def _put(self, path: Path, data: bytes) -> None:
        with self._unavailable("written to"):
            for attempt in range(_PUT_ATTEMPTS):
                try:
                    _make_directory(path.parent)
                    _write(path, data)
                except FileNotFoundError:
                    if attempt == _PUT_ATTEMPTS - 1:
                        raise
                else:
                    return

    def _get(self, path: Path) -> bytes:
        with self._unavailable("read"):
            try:
                return path.read_bytes()
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                if self.directory.exists() and not self.directory.is_dir():
                    raise
                key = path.relative_to(self.directory)
                raise NotStoredError(f"there is no '{key}' in the store {self.directory}") from None

    def _delete(self, path: Path) -> None:
        with self._unavailable("written to"):
            with suppress(FileNotFoundError, NotADirectoryError):
                path.unlink()
            for parent in path.parents:
                if parent == self.directory:
                    return
                try:
                    parent.rmdir()
                except OSError:
                    return

    def _list(self, below: Path) -> tuple[StoredObject, ...]:
        with self._unavailable("read"):
            return tuple(sorted(self._found(below), key=lambda found: found.key))

    def _found(self, below: Path) -> Iterator[StoredObject]:
        for directory, _, names in os.walk(below, onerror=_unless_missing):
            for name in names:
                path = Path(directory, name)
                key = path.relative_to(self.directory).as_posix()
                # What a killed writer has left behind is no key, and neither is what others may put here.
                if is_key(key):
                    with suppress(FileNotFoundError):
                        status = path.stat()
                        stored_at = datetime.fromtimestamp(status.st_mtime, UTC)
                        yield StoredObject(key, status.st_size, stored_at)

    @contextmanager
    def _unavailable(self, wanted: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            reason = f"the store {self.directory} cannot be {wanted}: {error.strerror or error}"
            raise StoreUnavailableError(reason) from error


def _make_directory(path: Path) -> None:
    if not path.is_dir():
        # `Path.mkdir` would give the parents that it creates the mode that everyone can read.
        _make_directory(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def _write(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
