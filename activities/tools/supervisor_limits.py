"""Notices when the processes of a call are too many, or hold too much memory together."""
# ruff: noqa: PTH123

import time

from activities.tools.supervisor_processes import descendants

TYPE_CHECKING = False
if TYPE_CHECKING:
    from activities.tools.supervisor_policy import Policy
    from activities.tools.supervisor_processes import Process

LOOK_SECONDS = 0.1
"""How long passes between two looks at how many processes the machine has, which takes microseconds."""

_COUNT_SECONDS = 0.25
_REST = 40
"""How much longer than a count takes, at least, passes before the next one: it reads all of /proc."""


class Limits:
    """What the processes of one call may use together; asked every `LOOK_SECONDS`."""

    def __init__(self, policy: "Policy") -> None:
        self._processes = policy["processes"]
        self._memory_bytes = policy["memory_bytes"]
        self._threads = _threads()
        self._count_at = time.monotonic() + _COUNT_SECONDS

    @property
    def any(self) -> bool:
        """Whether there is something to look at."""
        return self._processes is not None or self._memory_bytes is not None

    def exceeded(self) -> "str | None":
        """Say which one was, in a phrase; None while all is well."""
        now, threads = time.monotonic(), _threads()
        grown = self._processes is not None and threads - self._threads > self._processes // 2
        if now < self._count_at and not grown:
            return None
        found = descendants()
        done = time.monotonic()
        self._count_at = done + max(_COUNT_SECONDS, _REST * (done - now))
        self._threads = threads
        return self._too_many(found) or self._too_large(found)

    def _too_many(self, found: "list[Process]") -> "str | None":
        if self._processes is None or len(found) <= self._processes:
            return None
        return f"more than {self._processes:,} processes at a time"

    def _too_large(self, found: "list[Process]") -> "str | None":
        limit_bytes = self._memory_bytes
        if limit_bytes is None or sum(process.resident_bytes for process in found) <= limit_bytes:
            return None
        # What processes share was counted for each of them.
        if sum(_proportional_bytes(process) for process in found) <= limit_bytes:
            return None
        return f"more than {limit_bytes:,} bytes of memory"


def _threads() -> int:
    """How many threads the machine has, be they in other namespaces."""
    try:
        with open("/proc/loadavg", "rb", 0) as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def _proportional_bytes(process: "Process") -> int:
    try:
        with open(f"/proc/{process.id}/smaps_rollup", "rb", 0) as file:
            for line in file.read().splitlines():
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return process.resident_bytes
