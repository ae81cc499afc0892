"""Workers that are killed and come back: each the real command, in a process of its own."""

import asyncio
import os
import subprocess
import sysconfig
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.chaos_proxy import Relay, relay_to
from workers.server_ports import HOST

QUEUE = "chaos"
CALLS_AT_ONCE = 8
"""Few, so that calls wait at times, and some longer than they may."""
SUREFOOT = Path(sysconfig.get_path("scripts")) / "surefoot"
CHECK_SECONDS = 0.05
PAUSE_SECONDS = 0.5
STOP_SECONDS = 20
SERVING = b"serving"

WORK = "work"
"""Where all calls work, below the directory of the workers; behind walls they write nothing beside it."""
PLACE = ("--tools", "tools", "--workdir", WORK)


@dataclass(frozen=True)
class Departure:
    """A worker that ended although nobody killed it."""

    exit_code: int
    served: bool
    """Whether it had reached the server before; one that cannot reach it at its start is to end."""
    log: Path


class MortalWorker:
    """One place for a worker, with one in it most of the time; it reaches the server by its own relay."""

    def __init__(self, number: int, relay: Relay, directory: Path) -> None:
        self._number, self.relay, self._directory = number, relay, directory
        self._process: subprocess.Popen[bytes] | None = None
        self._lives = 0
        self._killed = False
        self.serves_since: float | None = None
        """On the loop's clock; None while it does not serve."""
        self.departures: list[Departure] = []

    async def live(self) -> None:
        """Start a worker again and again, until cancelled."""
        while True:
            self._lives += 1
            log = self._directory / f"worker-{self._number}-{self._lives}.log"
            self._process, self._killed = self._start(log), False
            served = await self._ending(self._process, log)
            if not self._killed:
                self.departures.append(Departure(self._process.wait(), served, log))
                await asyncio.sleep(PAUSE_SECONDS)

    async def _ending(self, process: subprocess.Popen[bytes], log: Path) -> bool:
        while process.poll() is None:
            if self.serves_since is None and not self._killed and SERVING in log.read_bytes():  # noqa: ASYNC240
                self.serves_since = asyncio.get_running_loop().time()
            await asyncio.sleep(CHECK_SECONDS)
        served, self.serves_since = self.serves_since is not None, None
        return served

    def kill(self) -> None:
        """SIGKILL, now."""
        if self._process is not None:
            self._killed, self.serves_since = True, None
            self._process.kill()

    async def stop(self) -> None:
        """Let it end in order; by force when that takes too long."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await asyncio.to_thread(self._process.wait)

    def _start(self, log: Path) -> subprocess.Popen[bytes]:
        address = f"{HOST}:{self.relay.port}"
        own = {
            "SUREFOOT_STATE_DIRECTORY": str(self._directory),
            "SUREFOOT_MAX_CONCURRENT_ACTIVITIES": str(CALLS_AT_ONCE),
        }
        with log.open("wb") as output:
            return subprocess.Popen(
                [SUREFOOT, "worker", "--queue", QUEUE, *PLACE, "--address", address],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._directory,
                env={**os.environ, **own},
                start_new_session=True,
            )


@asynccontextmanager
async def mortal_workers(
    count: int, *, server_port: int, directory: Path
) -> AsyncGenerator[Sequence[MortalWorker]]:
    """Have workers whose tools are in `directory`/tools and work in `directory`/work, which must exist.

    All serve at first.

    They end with the context.
    """
    async with AsyncExitStack() as stack:
        workers: list[MortalWorker] = []
        for number in range(count):
            relay = await stack.enter_async_context(relay_to(server_port))
            workers.append(MortalWorker(number, relay, directory))
        lives = [asyncio.create_task(worker.live()) for worker in workers]
        try:
            while any(worker.serves_since is None for worker in workers):  # noqa: ASYNC110  other processes
                await asyncio.sleep(CHECK_SECONDS)
            yield workers
        finally:
            for life in lives:
                life.cancel()
            await asyncio.gather(*lives, return_exceptions=True)
            await asyncio.gather(*(worker.stop() for worker in workers))
