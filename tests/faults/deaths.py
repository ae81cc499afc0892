"""Ways in which tool calls die, many of them side by side on one worker, and what the model then sees."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any

from temporalio.client import Client, WorkflowHandle

from surefoot.events import ToolExecutionFailed
from surefoot.run import RunResult
from tests.conftest import RealServer
from tests.console.command import Command, Surefoot
from tests.faults.talker import PAUSE_SECONDS, TALKER, reached, record_of, write_talker
from tests.workers.real_workers import new_queue
from tests.workflows.agents import finish, start

OLD_ENOUGH_SECONDS = 1.5
"""What a tool had written this long before its death has to reach the model."""

_SPREAD_SECONDS = 2
"""The calls start within this time, so that a death meets every phase of the heartbeats."""


@dataclass(frozen=True)
class Way:
    """One way of dying; `signal` goes to the worker, and without one the tool dies by itself."""

    error_code: str
    survives: bool
    """Whether the activity lives on to tell of it."""
    signal: Signals | None = None
    manifest: Mapping[str, float] = field(default_factory=dict[str, float])
    lines: int = 1_000


@dataclass(frozen=True)
class Death:
    """What became of one call."""

    error_code: str
    due: int
    """Lines that have to reach the model: all when the activity survived, else those that are old enough."""
    arrived: int
    noticed_seconds: float
    """From the signal, else the tool's last line, to the outcome in the ledger."""
    lag_seconds: float
    """How long before its death it wrote the first line that did not reach the model; 0 for none."""


class Place:
    """Where one test's workers run, as commands of their own, and its runs."""

    def __init__(self, directory: Path, server: RealServer, client: Client) -> None:
        directory.mkdir(exist_ok=True)
        self.directory, self.client = directory, client
        self.tools = directory / "tools"
        self.queue = new_queue()
        self._commands = Surefoot(directory, state_home=server.state_directory.parent)
        self._address = server.address

    def clean_up(self) -> None:
        """End every worker that is left."""
        self._commands.clean_up()

    def start_worker(self) -> Command:
        """Start one more worker; it lets nothing finish when it is stopped."""
        return self._commands.start(
            *("worker", "--address", self._address, "--queue", self.queue, "--tools", self.tools),
            *("--workspace", "shared"),
            environment={"SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT": "0"},
        )

    async def serving(self) -> Command:
        """Start one more worker and wait until it serves."""
        worker = self.start_worker()
        await asyncio.to_thread(worker.until_it_says, '"event": "serving"')
        return worker

    async def start_run(self, name: str, call: str, *, delay_seconds: float = 0) -> WorkflowHandle[Any, Any]:
        """Start a run whose model makes this call, some time after it is asked."""
        script = self.directory / f"script-{name}.yaml"
        script.write_text(f"steps: [{{call: [{call}], delay_seconds: {delay_seconds}}}, {{say: Done.}}]\n")
        return await start(self.client, self.queue, model=f"scripted:{script}")


async def die(way: Way, place: Place, *, count: int) -> list[Death]:
    """Have this many calls of one worker die at once, or one by one where they die by themselves."""
    write_talker(place.tools, **way.manifest)
    worker = await place.serving()
    names = [str(number) for number in range(count)]
    runs = [await _start_talking(place, way, name, number / count) for number, name in enumerate(names)]
    died_at = None
    if way.signal is not None:
        died_at = await _end(worker, way.signal, place.directory, names)
        place.start_worker()
    return [
        await _death(place.directory, name, run, died_at, way) for name, run in zip(names, runs, strict=True)
    ]


async def _start_talking(place: Place, way: Way, name: str, phase: float) -> WorkflowHandle[Any, RunResult]:
    call = f'{TALKER}: {{name: "{name}", lines: {way.lines}}}'
    return await place.start_run(name, f"{{{call}}}", delay_seconds=phase * _SPREAD_SECONDS)


async def _end(worker: Command, number: Signals, directory: Path, names: list[str]) -> float:
    """Send the signal once every call has printed for long enough; gives when."""
    enough = 2 * 2 * OLD_ENOUGH_SECONDS / PAUSE_SECONDS
    while any(len(record_of(directory, name)) < enough for name in names):  # noqa: ASYNC110  other processes
        await asyncio.sleep(0.05)
    died_at = time.time()
    worker.signal(number)
    return died_at


async def _death(
    directory: Path, name: str, run: WorkflowHandle[Any, RunResult], died_at: float | None, way: Way
) -> Death:
    finished = await finish(run)
    (failed,) = [event for event in finished.events if isinstance(event, ToolExecutionFailed)]
    lines = record_of(directory, name)
    arrived = set(reached(failed.outcome, name, lines))
    end = max(line.written_at for line in lines) if died_at is None else died_at
    due = [line for line in lines if way.survives or line.written_at <= end - OLD_ENOUGH_SECONDS]
    return Death(
        error_code=failed.outcome.error_code,
        due=len(due),
        arrived=len(arrived.intersection(due)),
        noticed_seconds=failed.time.timestamp() - end,
        lag_seconds=max((end - line.written_at for line in lines if line not in arrived), default=0),
    )
