"""A process of the worker's user that no tool may read, end or hold back."""

import os
import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

# The kernel shows a process's memory only to those that have its privileges: it has none, as a tool has none.
_PROGRAM = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24))
libc.prctl(4, 1, 0, 0, 0)
os.write(1, b"!")
os.read(0, 1)
"""


@dataclass(frozen=True)
class Victim:
    """It has the secret in its environment, its memory and its command line."""

    process: subprocess.Popen[bytes]

    @property
    def id(self) -> int:
        """Its number."""
        return self.process.pid

    def died(self) -> bool:
        """Say whether it was ended; a moment after the signal it is."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.2)
        return self.process.poll() is not None

    def open_files(self) -> tuple[int, int]:
        """Give how many files it may open."""
        return resource.prlimit(self.id, resource.RLIMIT_NOFILE)

    def niceness(self) -> int:
        """Give how far it stands back behind others."""
        return os.getpriority(os.PRIO_PROCESS, self.id)


@contextmanager
def victim(secret: str) -> Generator[Victim]:
    """Have one."""
    command = [sys.executable, "-IS", "-c", _PROGRAM, secret]
    with subprocess.Popen(
        command, env={"KEY": secret}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"!"
        try:
            yield Victim(process)
        finally:
            process.kill()
