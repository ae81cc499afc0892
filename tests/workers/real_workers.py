"""Real workers that serve tools which a test wrote, in this process or in one of its own."""

import asyncio
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.llm_turn import OpenModel
from activities.model import Model
from tests.activities.tools.disk_tools import found
from workers.settings import Settings
from workers.snapshot import RunningActivity, snapshot_of
from workers.versioning import deployment_version
from workers.worker import build_worker


def new_queue() -> str:
    return f"queue-{secrets.token_hex(4)}"


def worker_of(client: Client, directory: Path, model: Model, *, queue: str, **settings: Any) -> Worker:  # noqa: ANN401  what a setting may be
    """Give a worker for the tools in `directory`/tools, which run in `directory`."""
    return worker_opening(client, directory, lambda _turn, _attempt: model, queue=queue, **settings)


def worker_opening(
    client: Client,
    directory: Path,
    open_model: OpenModel,
    *,
    queue: str,
    **settings: Any,  # noqa: ANN401
) -> Worker:
    """Give a worker as `worker_of` does, which opens the model of each turn."""
    own = Settings(state_directory=directory, **settings)
    return build_worker(
        client,
        queue=queue,
        tools=found(directory / "tools"),
        directory=directory,
        environment={"PATH": os.environ["PATH"]},
        open_model=open_model,
        settings=own,
        version=deployment_version(own),
    )


@asynccontextmanager
async def working(client: Client, directory: Path, model: Model, **settings: Any) -> AsyncGenerator[str]:  # noqa: ANN401
    """Have a worker serve a queue of its own; gives the queue."""
    queue = new_queue()
    async with worker_of(client, directory, model, queue=queue, **settings):
        yield queue


async def until_running(
    run: WorkflowHandle[Any, Any], shows: Callable[[RunningActivity], bool]
) -> RunningActivity:
    """Wait until the server shows an activity of the run like this."""
    while True:
        snapshot = await snapshot_of(run, served=True)
        for activity in snapshot.running:
            if shows(activity):
                return activity
        await asyncio.sleep(0.02)


def says(stdout: str) -> Callable[[RunningActivity], bool]:
    """An activity whose latest heartbeat told this output."""
    return lambda activity: activity.captured is not None and activity.captured.stdout == stdout


async def pid_in(file: Path) -> int:
    """Wait until a tool has written its process id, with a newline, where it works; gives what it is here."""
    while not (file.exists() and file.read_text().endswith("\n")):  # noqa: ASYNC110, ASYNC240  another process
        await asyncio.sleep(0.01)
    return pid_told_in(file)


def pid_told_in(file: Path) -> int:
    """Give the process id that a tool has written where it works.

    In namespaces of its own it knows itself by another number than everybody else.
    """
    told, directory = file.read_text().strip(), file.parent
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):
            namespaced = next(line for line in status.read_text().splitlines() if line.startswith("NSpid:"))
            if namespaced.split()[-1] == told and (status.parent / "cwd").readlink() == directory:
                return int(status.parent.name)
    return int(told)


_SCRIPT = """
import asyncio, signal, sys
from pathlib import Path

{before}

from activities.tools.discovery import discover_tools
from workers.connection import connect
from workers.encryption.converter import data_converter
from workers.logging import configure_logging
from workers.models import model_opener, provider_settings
from workers.settings import load_settings
from workers.worker import build_worker

async def work(address, queue, directory):
    configure_logging()
    settings = load_settings()
    worker = build_worker(
        await connect(address, data_converter(settings)),
        queue=queue,
        tools=discover_tools([Path(directory) / "tools"]).tools,
        directory=Path(directory),
        environment={{"PATH": "/usr/bin:/bin"}},
        open_model=model_opener(provider_settings({{}})),
        settings=settings,
    )
    async with worker:
        await asyncio.Event().wait()

asyncio.run(work(*sys.argv[1:]))
"""


class WorkerProcess:
    """A worker in a process of its own; its models are those of the product. Ends with its context."""

    def __init__(
        self,
        client: Client,
        directory: Path,
        *,
        queue: str,
        before: str = "",
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start it with these variables; `before` is Python that it runs before anything is imported."""
        self.log, self.output = directory / "worker.log", directory / "worker.out"
        arguments = [client.service_client.config.target_host, queue, str(directory)]
        own = {"SUREFOOT_STATE_DIRECTORY": str(directory), "TEMPORAL_NAMESPACE": client.namespace}
        with self.log.open("wb") as log, self.output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _SCRIPT.format(before=before), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                env={**os.environ, **own, **variables},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """Return once SIGKILL has ended it."""
        self._process.kill()
        self._process.wait(timeout=10)
