"""Who listens on a port of this machine."""

from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_LISTENING = "0A"


def listens(process_id: int, port: int) -> bool:
    """Tell whether it is this process, of the same user, that listens on the port (IPv4).

    Where the system does not say (macOS) it is taken for granted.
    """
    if not (PROC / "self").exists():
        return True
    try:
        wanted = {f"socket:[{inode}]" for inode in _sockets(process_id, port)}
        return bool(wanted) and not wanted.isdisjoint(_open_files(process_id))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False


def _sockets(process_id: int, port: int) -> set[str]:
    """Give the inodes of the sockets that listen on the port, whoever opened them; see proc_net(5)."""
    table = (PROC / str(process_id) / "net/tcp").read_text(encoding="ascii")
    rows = [line.split() for line in table.splitlines()[1:]]
    return {row[9] for row in rows if row[3] == _LISTENING and int(row[1].partition(":")[2], 16) == port}


def _open_files(process_id: int) -> set[str]:
    files: set[str] = set()
    for entry in (PROC / str(process_id) / "fd").iterdir():
        # It may be closed by now.
        with suppress(FileNotFoundError):
            files.add(str(entry.readlink()))
    return files
