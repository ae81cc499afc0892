"""The processes of this machine, as a supervisor finds and kills them."""
# Importing pathlib would take longer than all that is done here before a tool starts.
# ruff: noqa: PTH123, PTH208

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator
else:
    # The C half of `signal`: the enumerations of the other half would take 4 ms of every call.
    import _signal as signal


class Process:
    """One process that lives, as `/proc/PID/stat` tells of it."""

    __slots__ = ("id", "parent", "resident_bytes", "session")

    def __init__(self, process_id: int, stat: bytes) -> None:
        """Read what comes after its name, which stands in parentheses and may hold anything.

        Raises:
            ValueError: this is no such text.
        """
        fields = stat.rpartition(b")")[2].split()
        if len(fields) <= _RESIDENT or fields[0] in {b"Z", b"X"}:
            raise ValueError("it has ended")
        self.id = process_id
        self.parent, self.session = int(fields[1]), int(fields[3])
        self.resident_bytes = int(fields[_RESIDENT]) * _PAGE_BYTES


_RESIDENT = 21
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def processes() -> "Iterator[Process]":
    """Give everyone who lives; nobody where /proc cannot be read."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb", 0) as file:
                process = Process(int(name), file.read())
        except (OSError, ValueError):
            continue
        yield process


def descendants() -> "list[Process]":
    """Give everyone below this process."""
    children: dict[int, list[Process]] = {}
    for process in processes():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    level = children.get(os.getpid(), [])
    while level:
        found += level
        level = [child for process in level for child in children.get(process.id, [])]
    return found


def descendant_ids() -> "set[int]":
    """Give the ids of everyone below this process, among them those that a /proc with `hidepid` hides."""
    return {process.id for process in descendants()} | _own_children()


def kill_all(find: "Callable[[], set[int]]") -> None:
    """Kill what `find` gives; all are stopped first, or one could fork while the others are killed."""
    stopped: set[int] = set()
    while fresh := find() - stopped:
        signal_all(fresh, signal.SIGSTOP)
        stopped |= fresh
    signal_all(stopped, signal.SIGKILL)


def signal_all(targets: "set[int]", number: int) -> None:
    """Send a signal to those that can be sent one."""
    for process in targets:
        try:
            os.kill(process, number)
        except OSError:
            # Ended meanwhile, or another user's.
            continue


def _own_children() -> "set[int]":
    """The children that the kernel lists."""
    try:
        with open("/proc/thread-self/children", "rb", 0) as file:
            return {int(process) for process in file.read().split()}
    except OSError:
        return set()
