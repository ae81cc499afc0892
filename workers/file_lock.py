"""Locks between processes, which the kernel drops when their holder dies."""

import fcntl
import os
from datetime import timedelta
from pathlib import Path

from workers.waiting import until


class FileLock:
    """A lock that is held until `release`, or until this process ends. Executables never inherit it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Let go; a second time does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def release_and_remove(self) -> None:
        """Let go and remove the file, for a lock that is held and that nobody will need again."""
        self.path.unlink(missing_ok=True)
        self.release()


def try_lock(path: Path, *, shared: bool = False) -> FileLock | None:
    """Take the lock at once, or give None when another holder is in the way.

    Holders exclude each other also inside one process; shared ones exclude only exclusive ones.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        if _is_at(path, descriptor):
            return FileLock(path, descriptor)
        # The last holder removed the file between our opening and our locking it.
        os.close(descriptor)


async def lock(path: Path, *, shared: bool = False, within: timedelta) -> FileLock:
    """Take the lock, waiting for other holders; raises TimeoutError when `within` is over."""
    return await until(lambda: try_lock(path, shared=shared), within=within)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
