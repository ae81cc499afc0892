"""A measured worker, in a process of its own.

python -m bench.serving SIDE DISPATCH ADDRESS QUEUE DIRECTORY NOTES
"""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from temporalio.client import Client
from temporalio.plugin import SimplePlugin
from temporalio.worker import WorkerConfig, WorkflowRunner

from bench.agent import agent_worker, with_tool_in_process
from bench.handwritten import Activities, HandwrittenAgent, handwritten_sandbox
from bench.notes import Notes
from bench.noting import NotingQueries, NotingRunner
from workers.connection import connect
from workers.encryption.converter import data_converter
from workers.logging import configure_logging
from workers.settings import load_settings

Side = Literal["surefoot", "handwritten"]
Dispatch = Literal["eager", "queued"]
"""Whether the worker that carries a run on takes what it schedules at once, or any worker takes it later."""


@dataclass(frozen=True)
class Measured:
    """What a measured worker is to be, apart from where it works."""

    side: Side
    dispatch: Dispatch = "eager"


async def serve(measured: Measured, address: str, queue: str, directory: Path, notes: Notes) -> None:
    """Serve one side's runs until SIGTERM."""
    config = (await connect(address, data_converter(load_settings()))).config()
    config["plugins"] = [_Measuring(measured, directory, notes)]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with agent_worker(Client(**config), queue=queue, directory=directory, notes=notes):
        notes.write("serving")
        await stop.wait()


class _Measuring(SimplePlugin):
    """Makes Surefoot's own worker a measured one of a side; all its options stay as they are."""

    def __init__(self, measured: Measured, directory: Path, notes: Notes) -> None:
        interceptors = [NotingQueries(notes)]
        super().__init__("bench", interceptors=interceptors)  # pyright: ignore[reportUnknownMemberType]  the SDK leaves `Callable` bare
        self._measured, self._directory, self._notes = measured, directory, notes

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """Put this side's workflows and activities in."""
        # The SDK leaves what these entries call untyped.
        built = cast("dict[str, Any]", config)
        runner: WorkflowRunner = built["workflow_runner"]
        match self._measured.side:
            case "surefoot":
                config["activities"] = with_tool_in_process(built["activities"], directory=self._directory)
            case "handwritten":
                activities = Activities(self._notes)
                config["activities"] = [activities.create_reply, activities.run_tool]
                config["workflows"] = [HandwrittenAgent]
                runner = handwritten_sandbox()
        config["disable_eager_activity_execution"] = self._measured.dispatch == "queued"
        config["workflow_runner"] = NotingRunner(runner, self._notes)
        return super().configure_worker(config)


def main() -> None:
    """Serve, and leave without the interpreter's shutdown, in which the SDK's threads can crash."""
    side, dispatch, address, queue, directory, notes = sys.argv[1:]
    measured = Measured(cast("Side", side), cast("Dispatch", dispatch))
    configure_logging()
    asyncio.run(serve(measured, address, queue, Path(directory), Notes(Path(notes))))
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
