"""Real tools of a scenario, and a real worker for them and their run."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from tests.activities.tools.disk_tools import SHELL
from tests.replay.stage import Stage
from tests.workers.real_workers import says as printed
from tests.workers.real_workers import worker_of
from tests.workflows.agents import Replies, calls, says

Run = WorkflowHandle[Any, Any]

HANGS = f"{SHELL}echo begun; exec sleep 60\n"
BEGUN = printed("begun\n")


@asynccontextmanager
async def own_tools(stage: Stage, *turns: str) -> AsyncGenerator[Run]:
    """Have a real worker serve a run and the tools on disk; each turn calls these tools."""
    nothing: JsonValue = {}
    replies = [*(calls(*[(name, nothing) for name in turn.split()]) for turn in turns), says("Done.")]
    async with worker_of(stage.client, stage.directory, Replies(replies), queue=stage.name):
        yield await stage.start(stage.name)
