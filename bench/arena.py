"""Where both sides are measured in turns: one tuned server, and for each side a worker of its own."""

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from temporalio.client import Client, WorkflowHandle

from bench.agent import DEFINITION
from bench.handwritten import WORKFLOW
from bench.serving import Dispatch, Measured, Side
from bench.worker_process import WorkerProcess, worker_process
from bench.workload import Workload
from surefoot.limits import Limits
from surefoot.run import RunInput
from workers.embedded_server import embedded_server
from workers.settings import Settings
from workers.starting import start_run

SIDES: tuple[Side, ...] = get_args(Side)
PROMPT = "Speak."


@dataclass(frozen=True)
class Arena:
    """A server, and the workers of both sides."""

    client: Client
    address: str
    directory: Path
    workers: Mapping[Side, tuple[WorkerProcess, ...]]
    queues: Mapping[Side, str]

    async def start(self, side: Side, workload: Workload) -> WorkflowHandle[Any, Any]:
        """Start one run under a new id."""
        workflow_id, queue = f"{side}-{secrets.token_hex(4)}", self.queues[side]
        match side:
            case "surefoot":
                limits = Limits(max_turns=workload.turns + 1)
                run = RunInput(prompt=PROMPT, model=workload.name, limits=limits, tools=(DEFINITION,))
                return await start_run(self.client, run, workflow_id=workflow_id, queue=queue)
            case "handwritten":
                return await self.client.start_workflow(
                    WORKFLOW, args=[PROMPT, workload.name], id=workflow_id, task_queue=queue
                )

    def worker(self, side: Side) -> WorkerProcess:
        """Give the only worker of a side, or the first one."""
        return self.workers[side][0]

    def cpu_seconds(self, side: Side) -> float:
        """Tell the processor time that all workers of a side have used."""
        return sum(worker.cpu_seconds() for worker in self.workers[side])


@asynccontextmanager
async def arena(
    directory: Path, *, workers: int = 1, dispatch: Dispatch = "eager", sides: Sequence[Side] = SIDES
) -> AsyncGenerator[Arena]:
    """Have an arena in a directory of its own, warmed up; all of it ends with the context."""
    directory.mkdir()  # noqa: ASYNC240  once, before anything runs
    settings = Settings(state_directory=directory / "state")
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(embedded_server(settings))
        queues: dict[Side, str] = {side: f"bench-{side}" for side in sides}
        found: dict[Side, tuple[WorkerProcess, ...]] = {}
        for side in sides:
            measured = Measured(side, dispatch)
            contexts = (
                worker_process(measured, address=server.address, queue=queues[side], directory=directory)
                for _ in range(workers)
            )
            found[side] = tuple([await stack.enter_async_context(each) for each in contexts])
        made = Arena(server.client, server.address, directory, found, queues)
        for side in sides:
            for _ in range(workers):
                await (await made.start(side, Workload(turns=3))).result()
        yield made
