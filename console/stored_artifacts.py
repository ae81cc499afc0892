"""The artifacts in the store that the settings name."""

import asyncio
from collections.abc import Coroutine
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from activities.store.relay import read_through
from activities.store.store import (
    NotStoredError,
    Store,
    StoredObject,
    StoreUnavailableError,
    is_key,
    key_part,
)
from activities.tools.environment import ARTIFACTS_SOCKET
from console.entry import settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from surefoot.artifact import ARTIFACTS
from workers.environment import process_environment
from workers.storage import open_store

CONVERSATIONS = "conversations"

_Answer = TypeVar("_Answer")
_DELETED_AT_ONCE = 16


class StoredArtifacts:
    """What the commands do with the store; every error is a CommandError of one sentence."""

    def __init__(self, store: Store, relay: Path | None = None) -> None:
        """`relay` is the socket of the worker whose tool this command runs in, if the store needs it."""
        self._store = store
        self._relay = relay

    def listed(self, run: str | None) -> list[StoredObject]:
        """List the artifacts, of one run or of all; the oldest first."""
        prefix = ARTIFACTS if run is None else f"{ARTIFACTS}/{key_part(run)}"
        return sorted(_wait_for(self._store.list(prefix)), key=lambda one: (one.stored_at, one.key))

    def read(self, named: str) -> bytes:
        """Give an artifact by its id, or by the path of its file."""
        return _wait_for(self._found(_artifact_key(named)))

    def path(self, named: str) -> Path:
        """Give the file of an artifact."""
        key = _artifact_key(named)
        file = self._store.file(key)
        if file is None:
            where = f"the store {self._store.location} has no plain files"
            raise CommandError(f"{where}; `surefoot artifacts get` reads an artifact")
        if not any(one.key == key for one in _wait_for(self._store.list(key.rpartition("/")[0]))):
            raise _unknown(key, self._store)
        return file

    def older(self, than: datetime, *, conversations: bool) -> list[StoredObject]:
        """List what was stored before then, kept conversations only if they are asked for."""
        prefixes = (ARTIFACTS, CONVERSATIONS) if conversations else (ARTIFACTS,)
        found = [one for prefix in prefixes for one in _wait_for(self._store.list(prefix))]
        return [one for one in found if one.stored_at < than]

    def delete(self, objects: list[StoredObject]) -> None:
        """Remove these."""
        _wait_for(self._delete(objects))

    def identify(self, stored: StoredObject) -> tuple[str, str | None]:
        """Give an artifact's id, and the path of its file where it has one."""
        file = self._store.file(stored.key)
        return stored.key.removeprefix(f"{ARTIFACTS}/"), None if file is None else str(file)

    async def _found(self, key: str) -> bytes:
        try:
            return await (read_through(self._relay, key) if self._relay else self._store.get(key))
        except NotStoredError:
            raise _unknown(key, self._store) from None

    async def _delete(self, objects: list[StoredObject]) -> None:
        for start in range(0, len(objects), _DELETED_AT_ONCE):
            together = objects[start : start + _DELETED_AT_ONCE]
            await asyncio.gather(*(self._store.delete(one.key) for one in together))


def stored_artifacts() -> StoredArtifacts:
    """Open the store of the settings; raises CommandError."""
    relay = process_environment().get(ARTIFACTS_SOCKET)
    return StoredArtifacts(store_or_complain(), Path(relay) if relay else None)


def store_or_complain() -> Store:
    """Give the store of the settings.

    Raises:
        CommandError: the settings cannot be used.
    """
    return open_store(settings_or_complain(), process_environment())


def _wait_for(work: Coroutine[Any, Any, _Answer]) -> _Answer:
    try:
        return asyncio.run(work)
    except StoreUnavailableError as error:
        raise CommandError(str(error), ExitCode.RUN_FAILED) from error


def _artifact_key(named: str) -> str:
    # A model may hand the path on to a machine where the store is elsewhere.
    given = named.rpartition(f"/{ARTIFACTS}/")[2] if named.startswith("/") else named
    key = f"{ARTIFACTS}/{given}"
    if not is_key(key):
        raise CommandError(f"'{named}' cannot be an artifact's id; `surefoot artifacts list` shows them")
    return key


def _unknown(key: str, store: Store) -> CommandError:
    named = key.removeprefix(f"{ARTIFACTS}/")
    return CommandError(
        f"there is no artifact '{named}' in the store {store.location}; "
        "`surefoot artifacts list` shows what there is"
    )
