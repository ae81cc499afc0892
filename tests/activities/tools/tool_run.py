"""Real runs of real executables, and what is left of their processes."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from activities.tools.capture import Captures, StreamCapture
from activities.tools.child_process import Leash
from activities.tools.command import Command
from activities.tools.executable import LEASH, Ending, execute

TAG = "SUREFOOT_TEST_TAG"
"""A variable in a tool's environment, by which all that it started is found."""


class ToolRun:
    """One execution of a tool in a directory of the test's own."""

    def __init__(self, directory: Path, leash: Callable[[Command], Leash] = LEASH) -> None:
        self.directory = directory
        self.leash = leash
        self.environment = {"PATH": os.environ["PATH"]}
        self.captures = Captures(StreamCapture(10_240), StreamCapture(4_096))

    def tool(self, script: str, *, mode: int = 0o755) -> Path:
        path = self.directory / "tool"
        path.write_text(script)
        path.chmod(mode)
        return path

    async def __call__(self, executable: Path, params: str = "{}", *, seconds: float = 20) -> Ending:
        return await execute(
            executable,
            params,
            timeout=timedelta(seconds=seconds),
            environment=self.environment,
            directory=self.directory,
            captures=self.captures,
            leash=self.leash,
        )

    @property
    def stdout(self) -> str:
        return self.captures.stdout.shown(10_240)

    @property
    def stderr(self) -> str:
        return self.captures.stderr.shown(4_096)

    @property
    def printed_pids(self) -> list[int]:
        return [int(word) for word in self.stdout.split() if word.isdigit()]


def open_descriptors() -> set[str]:
    """Every descriptor but the one that reads the list."""
    listed = [entry for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    targets = {entry.name: str(entry.readlink()) for entry in listed}
    return {f"{number} {target}" for number, target in targets.items() if not target.endswith("/fd")}


def is_known(pid: int) -> bool:
    """Whether it lives or is a zombie that nobody reaped."""
    return Path(f"/proc/{pid}").exists()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def tagged(tag: str) -> list[int]:
    """Everyone whose environment holds the tag, zombies aside: those have none."""
    found: list[int] = []
    for directory in Path("/proc").iterdir():
        with suppress(OSError):
            if directory.name.isdigit() and f"{TAG}={tag}".encode() in (directory / "environ").read_bytes():
                found.append(int(directory.name))
    return found


async def until(claim: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not claim():  # noqa: ASYNC110 - processes set no events
            await asyncio.sleep(0.005)
