"""A measured worker as its parent sees it: started, asked what it used, and stopped."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.notes import Kind, Note, read_notes
from bench.serving import Measured

_REPOSITORY = Path(__file__).parent.parent
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_CHECK_SECONDS = 0.02
_STOP_SECONDS = 20


class WorkerProcess:
    """One worker of one side."""

    def __init__(self, measured: Measured, *, address: str, queue: str, directory: Path, name: str) -> None:
        """Start it; its notes and its log are in `directory`."""
        self._notes, self._log = directory / f"{name}.notes", directory / f"{name}.log"
        arguments = [measured.side, measured.dispatch, address, queue, str(directory), str(self._notes)]
        with self._log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "bench.serving", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=_REPOSITORY,
            )

    def notes(self, *kinds: Kind, since: float = 0) -> list[Note]:
        """Give what it noted down of these kinds."""
        return [note for note in read_notes(self._notes) if note.kind in kinds and note.at >= since]

    def turns(self, *, since: float) -> int:
        """Tell the highest turn that it has taken since a time of the monotonic clock."""
        return max((note.turn for note in self.notes("turn", since=since)), default=0)

    async def serving(self) -> None:
        """Wait until it serves; raises RuntimeError if it ends instead."""
        while not self.notes("serving"):
            if self._process.poll() is not None:
                raise RuntimeError(
                    f"the worker ended with {self._process.returncode}: {self._log.read_text()}"
                )
            await asyncio.sleep(_CHECK_SECONDS)

    def cpu_seconds(self) -> float:
        """Tell how much processor time it has used, its own and the kernel's for it."""
        after_name = self._read("stat").rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / _TICKS_PER_SECOND

    def memory_bytes(self) -> int:
        """Tell what it holds of the memory now."""
        return self._status("VmRSS")

    def peak_bytes(self) -> int:
        """Tell the most that it held since `forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        """Let the peak begin anew."""
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")

    async def stop(self) -> None:
        """Let it end in order, as a deploy does; by force when that takes too long."""
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, _STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def _status(self, field: str) -> int:
        line = next(line for line in self._read("status").splitlines() if line.startswith(f"{field}:"))
        return int(line.split()[1]) * 1024

    def _read(self, file: str) -> str:
        return Path(f"/proc/{self._process.pid}/{file}").read_text()


@asynccontextmanager
async def worker_process(
    measured: Measured, *, address: str, queue: str, directory: Path
) -> AsyncGenerator[WorkerProcess]:
    """Have a worker that serves; it ends with the context."""
    name = f"{measured.side}-{time.monotonic_ns()}"
    worker = WorkerProcess(measured, address=address, queue=queue, directory=directory, name=name)
    try:
        await worker.serving()
        yield worker
    finally:
        await worker.stop()
