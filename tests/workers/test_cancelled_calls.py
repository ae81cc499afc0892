"""A cancelled call of a real tool: killed, with what it had said."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from surefoot.events import ToolExecutionStarted
from surefoot.outcome import ToolFailure
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.activities.tools.tool_run import is_alive
from tests.workers.real_workers import pid_in, until_running, working
from tests.workers.real_workers import says as has_said
from tests.workflows.agents import Replies, calls, finish, says, start
from tests.workflows.operators import cancel_call

HANGING = f"{SHELL}printf half; echo oh >&2; echo $$ > pid; exec sleep 300"
DEAF = f"{SHELL}trap '' TERM INT HUP; printf half; echo $$ > pid; while :; do sleep 0.1; done"


async def test_a_real_tool_that_an_operator_cancels_is_killed_and_the_model_sees_its_output(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", HANGING, timeoutSeconds=300)
    model = Replies([calls(("x", {})), says("Done.")])

    async with asyncio.timeout(30), working(client, tmp_path, model) as queue:
        run = await start(client, queue)
        pid = await pid_in(tmp_path / "pid")
        await until_running(run, has_said("half"))
        await cancel_call(run, "1-1")
        finished = await finish(run)
        alive = is_alive(pid)

    (outcome,) = finished.outcomes
    assert outcome == ToolFailure(
        error="Tool 'x' was cancelled by an operator",
        error_code="TOOL_CANCELLED",
        exit_code=None,
        stdout="half",
        stderr="oh\n",
    )
    (started,) = [event for event in finished.events if isinstance(event, ToolExecutionStarted)]
    assert (started.executor, started.started_at is not None, alive) == (client.identity, True, False)


async def test_a_run_whose_tool_ignores_signals_is_cancelled_and_leaves_nothing(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", DEAF, timeoutSeconds=300)

    async with asyncio.timeout(30), working(client, tmp_path, Replies([calls(("x", {}))])) as queue:
        run = await start(client, queue)
        pid = await pid_in(tmp_path / "pid")
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as failed:
            await run.result()
        alive = is_alive(pid)

    assert isinstance(failed.value.cause, CancelledError)
    assert not alive
