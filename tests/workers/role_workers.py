"""Real workers that each do one part of what runs need."""

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from activities.model import Model
from tests.activities.tools.disk_tools import found
from workers.roles import Role
from workers.settings import Settings
from workers.worker import build_worker


def part(client: Client, directory: Path, model: Model, *, queue: str, role: Role) -> Worker:
    """Give a worker of this role, for runs on the queue and the tools in `directory`/tools."""
    return build_worker(
        client,
        queue=queue,
        tools=found(directory / "tools") if role == "tools" else {},
        # Its runs tell of it, and recorded ones must not tell of a machine.
        directory=Path("/"),
        environment={"PATH": os.environ["PATH"]},
        open_model=lambda _turn, _attempt: model,
        settings=Settings(state_directory=directory),
        role=role,
    )


@asynccontextmanager
async def parts(
    client: Client, directory: Path, model: Model, *roles: Role, queue: str
) -> AsyncGenerator[None]:
    """Have workers of these roles serve runs on the queue."""
    async with AsyncExitStack() as stack:
        for role in roles:
            await stack.enter_async_context(part(client, directory, model, queue=queue, role=role))
        yield
