"""The files that the commands of one user share: the server's, the queues', and the locks on them."""

from dataclasses import dataclass
from pathlib import Path


class StateDirectoryError(RuntimeError):
    """One sentence on a state directory that cannot be used."""


@dataclass(frozen=True)
class StateDirectory:
    """Where everything in a state directory is; `open` makes sure that it can be used."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> "StateDirectory":
        """Create what is missing, for the user alone; raises StateDirectoryError."""
        directory = cls(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            directory.queues.mkdir(mode=0o700, exist_ok=True)
            directory.server_gate.touch(mode=0o600)
        except FileExistsError as error:
            raise StateDirectoryError(
                f"cannot use the state directory {path}: {error.filename} is a file"
            ) from error
        except OSError as error:
            raise StateDirectoryError(f"cannot use the state directory {path}: {error.strerror}") from error
        return directory

    @property
    def database(self) -> Path:
        """The embedded server's database."""
        return self.path / "temporal.db"

    @property
    def server_ports(self) -> Path:
        """Where the server of now, or else the last one, listens."""
        return self.path / "server.json"

    @property
    def server_log(self) -> Path:
        """What the server of now, or else the last one, printed."""
        return self.path / "server.log"

    @property
    def server_log_before(self) -> Path:
        """What the server before that one printed."""
        return self.path / "server.log.before"

    @property
    def server_gate(self) -> Path:
        """Locked by the one command that starts or stops the server."""
        return self.path / "server.lock"

    @property
    def server_users(self) -> Path:
        """Locked, shared, by every command that uses the server."""
        return self.path / "server-users.lock"

    @property
    def dev(self) -> Path:
        """Locked while `surefoot dev` is up."""
        return self.path / "dev.lock"

    @property
    def queues(self) -> Path:
        """One JSON file for each task queue to be served, and the lock of whoever serves it."""
        return self.path / "queues"
