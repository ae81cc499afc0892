"""The processes of tools that live on when nobody waits for them any more."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GRACE_SECONDS = 3.0
"""How long after the last run a process that is being killed may take to be gone."""
CHECK_SECONDS = 0.1


@dataclass(frozen=True)
class Survivor:
    """A process that was started by a tool."""

    process_id: int
    call: str

    def __str__(self) -> str:
        return f"{self.call}: process {self.process_id}"


async def survivors(name: str) -> tuple[Survivor, ...]:
    """Find what lives on of runs whose ids begin with `name`, after a grace; and end it."""
    deadline = asyncio.get_running_loop().time() + GRACE_SECONDS
    found = tuple(_processes(name))
    while found and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(CHECK_SECONDS)
        found = tuple(_processes(name))
    for survivor in found:
        with suppress(ProcessLookupError):
            os.kill(survivor.process_id, signal.SIGKILL)
    return found


def _processes(name: str) -> Iterator[Survivor]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (call := _call_of(entry)) is not None and call.startswith(f"{name}-"):
            yield Survivor(int(entry.name), call)


def _call_of(process: Path) -> str | None:
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    calls = [value for value in variables if value.startswith(b"SUREFOOT_CALL_ID=")]
    return os.fsdecode(calls[0].partition(b"=")[2]) if calls else None
