"""The processes of this machine and their command lines."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
THREADS = 16  # num_threads in proc(5), counted from the field after the state


def command_lines() -> Iterator[tuple[int, str]]:
    """Give number and command line, its arguments joined by spaces, of every process that has not ended."""
    if not (PROC / "self").exists():
        yield from command_lines_from_ps()
        return
    for entry in PROC.iterdir():
        if entry.name.isdecimal() and (command := command_line(int(entry.name))) is not None:
            yield int(entry.name), command


def command_line(process_id: int) -> str | None:
    """Give a process's command line, or None when it has ended, waited for or not.

    It is empty while a process is about to become another one or to end.
    """
    if not (PROC / "self").exists():
        return dict(command_lines_from_ps()).get(process_id)
    try:
        status = (PROC / str(process_id) / "stat").read_bytes()
        arguments = (PROC / str(process_id) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *fields = status.rpartition(b") ")[2].decode().split()
    # A dead main thread is not the end: the others may hold files and ports for a while.
    if _has_ended(state) and int(fields[THREADS]) <= 1:
        return None
    return os.fsdecode(arguments).replace("\0", " ").strip()


def command_lines_from_ps() -> Iterator[tuple[int, str]]:
    """Give the same as `command_lines`, on systems without /proc."""
    table = subprocess.run(
        ["ps", "-axww", "-o", "pid=,state=,args="],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        errors="replace",
    )
    for line in table.stdout.splitlines():
        process_id, state, *command = line.split(maxsplit=2)
        if not _has_ended(state):
            yield int(process_id), " ".join(command)


def _has_ended(state: str) -> bool:
    return state[0] in "ZX"
