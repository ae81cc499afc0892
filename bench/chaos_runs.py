"""Runs that are started and awaited through whatever happens to the server."""

import asyncio
import json
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError

from bench.chaos_plan import PlannedRun, PlannedTurn
from bench.chaos_workers import QUEUE
from surefoot.run import WORKFLOW, RunInput, RunResult

PAUSE_SECONDS = 0.5


async def carry_through(client: Client, run: PlannedRun, *, scripts: Path, starts_at: float) -> str:
    """Start a run at its time of the loop's clock and await its end; gives its status, or why it failed."""
    script = scripts / f"{run.workflow_id}.yaml"
    script.write_text(json.dumps(_script(run)))
    await asyncio.sleep(starts_at - asyncio.get_running_loop().time())
    return await _end(await _started(client, run, script))


async def _started(client: Client, run: PlannedRun, script: Path) -> WorkflowHandle[Any, RunResult]:
    while True:
        try:
            return await client.start_workflow(
                WORKFLOW,
                RunInput(prompt="Do it all.", model=f"scripted:{script}"),
                id=run.workflow_id,
                task_queue=QUEUE,
                result_type=RunResult,
                # An earlier try may have been heard although its answer was lost.
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
        except WorkflowAlreadyStartedError:
            return client.get_workflow_handle(run.workflow_id, result_type=RunResult)
        except RPCError:
            await asyncio.sleep(PAUSE_SECONDS)


async def _end(handle: WorkflowHandle[Any, RunResult]) -> str:
    while True:
        try:
            return (await handle.result()).status
        except WorkflowFailureError as error:
            return f"failed: {error.cause}"
        except RPCError:
            await asyncio.sleep(PAUSE_SECONDS)


def _script(run: PlannedRun) -> dict[str, Any]:
    return {"steps": [*(_step(turn) for turn in run.turns), {"say": "At last: {{last}}"}]}


def _step(turn: PlannedTurn) -> dict[str, Any]:
    calls = [{call.tool: {"seconds": call.seconds}} for call in turn.calls]
    return {"delay_seconds": turn.thinking_seconds, "call": calls}
