"""The task queues of embedded runs: how to serve each, and who does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from surefoot.run import Protocol
from surefoot.wire import WireModel
from workers.atomic_file import write_atomically
from workers.file_lock import FileLock, try_lock
from workers.settings import Settings
from workers.state_directory import StateDirectory


class ServedQueue(WireModel):
    """What a worker needs to serve the queue of one run; it holds no keys."""

    queue: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")]
    """The task queue; also the name of its file."""
    workflow_id: str
    tool_directories: tuple[str, ...]
    """As `--tools` takes them: absolute paths, `/directory:module:attribute`, or the word `builtin`."""
    reducers: tuple[str, ...] = ()
    """As `--reducers` takes them: absolute paths of Python files, or `/directory:module:attribute`."""
    agent: Path | None = None
    """The agent file that the tools come from, in place of directories."""
    working_directory: Path
    protocol: Protocol = "native"


class QueueInUseError(RuntimeError):
    """One sentence on a queue that another process serves."""


class DamagedQueueError(RuntimeError):
    """One sentence on a queue's file that cannot be read; its run goes on once it is mended."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} cannot be read: {reason}")


@dataclass(frozen=True)
class Claim:
    """The right to serve a queue, held until it is released or its process ends."""

    served: ServedQueue
    lock: FileLock
    path: Path

    def release(self) -> None:
        """Let the next process serve the queue; a second time does nothing."""
        self.lock.release()

    def forget(self) -> None:
        """Release the queue for good: its run has ended."""
        self.path.unlink(missing_ok=True)
        self.lock.release_and_remove()


@dataclass(frozen=True)
class QueueListing:
    """All queues with runs that have not ended, whether somebody serves them or not."""

    queues: tuple[ServedQueue, ...]
    damaged: tuple[DamagedQueueError, ...]


@dataclass(frozen=True)
class ServedQueues:
    """The queues remembered in one state directory."""

    directory: Path

    @classmethod
    def of(cls, settings: Settings) -> "ServedQueues":
        """Give the queues of the settings' state directory; raises StateDirectoryError."""
        return cls(StateDirectory.open(settings.state_directory).queues)

    def remember(self, served: ServedQueue) -> Claim:
        """Write down how a queue is served, and claim it; raises QueueInUseError."""
        lock = try_lock(self._lock_path(served.queue))
        if lock is None:
            raise QueueInUseError(f"the task queue {served.queue} is already served by another process")
        path = self._path(served.queue)
        write_atomically(path, served.model_dump_json(indent=2))
        return Claim(served, lock, path)

    def claim(self, queue: str) -> Claim | None:
        """Claim a remembered queue, or give None when another process serves it or it is forgotten.

        Raises DamagedQueueError.
        """
        path = self._path(queue)
        lock = try_lock(self._lock_path(queue)) if path.exists() else None
        if lock is None:
            return None
        try:
            return Claim(_read(path), lock, path)
        except FileNotFoundError:
            lock.release_and_remove()
            return None
        except DamagedQueueError:
            lock.release()
            raise

    def listing(self) -> QueueListing:
        """Give every queue that can be read, and why the others cannot."""
        queues: list[ServedQueue] = []
        damaged: list[DamagedQueueError] = []
        for path in sorted(self.directory.glob("*.json")):
            try:
                queues.append(_read(path))
            except FileNotFoundError:
                continue
            except DamagedQueueError as error:
                damaged.append(error)
        return QueueListing(tuple(queues), tuple(damaged))

    def _path(self, queue: str) -> Path:
        return self.directory / f"{queue}.json"

    def _lock_path(self, queue: str) -> Path:
        return self.directory / f"{queue}.lock"


def _read(path: Path) -> ServedQueue:
    try:
        served = ServedQueue.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DamagedQueueError(path, error.strerror or str(error)) from error
    except ValidationError as error:
        detail = error.errors()[0]
        reason = ".".join(str(part) for part in (*detail["loc"], detail["msg"]))
        raise DamagedQueueError(path, reason) from error
    if served.queue != path.stem:
        raise DamagedQueueError(path, f"it describes the queue {served.queue}")
    return served
