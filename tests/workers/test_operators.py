"""What an operator can do to a running call, beyond the buttons: whatever it is, the tool runs once."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
)
from temporalio.client import Client, WorkflowHandle

from surefoot.outcome import ToolFailure
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.workers.real_workers import WorkerProcess, new_queue, pid_in, until_running, working
from tests.workflows.agents import Replies, calls, finish, says, start
from workers.snapshot import snapshot_of

pytestmark = pytest.mark.slow

ACTING = f"{SHELL}echo once >> runs; echo $$ > pid; while [ ! -e go ]; do printf 1; sleep 0.1; done"
SCRIPT = "steps: [{call: [{x: {}}]}, {say: 'It came to {{last.error_code}}.'}]\n"
# Several heartbeats: a worker hears of anything only by these.
HEARD_CHARACTERS = 12

Action = Literal["pause", "unpause as if never tried", "reset", "reset and stay paused"]


class Operator:
    """Acts on the call 1-1 of a run."""

    def __init__(self, client: Client, run: WorkflowHandle[Any, Any]) -> None:
        self._run = run
        self._service = client.workflow_service
        execution = WorkflowExecution(workflow_id=run.id)
        self._call: dict[str, Any] = {"namespace": client.namespace, "execution": execution, "id": "1-1"}

    async def act(self, action: Action) -> None:
        match action:
            case "pause":
                await self._service.pause_activity(PauseActivityRequest(**self._call))
            case "unpause as if never tried":
                anew = UnpauseActivityRequest(**self._call, reset_attempts=True, reset_heartbeat=True)
                await self._service.unpause_activity(anew)
            case "reset":
                await self._service.reset_activity(ResetActivityRequest(**self._call))
            case "reset and stay paused":
                paused = ResetActivityRequest(**self._call, keep_paused=True, reset_heartbeat=True)
                await self._service.reset_activity(paused)

    async def until_heard(self) -> None:
        """Wait until the tool has gone on for some heartbeats, or has ended."""
        said: int | None = None
        while running := (await snapshot_of(self._run, served=True)).running:
            captured = running[0].captured
            length = len(captured.stdout) if captured else 0
            said = length if said is None else said
            if running[0].activity_id != "1-1" or length >= said + HEARD_CHARACTERS:
                return
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    "actions",
    [
        pytest.param(["pause", "unpause as if never tried"], id="paused, and its attempts counted anew"),
        pytest.param(["pause", "reset"], id="paused, then reset"),
        pytest.param(
            ["pause", "reset and stay paused", "unpause as if never tried"], id="paused, reset, unpaused"
        ),
        pytest.param(["reset and stay paused"], id="reset into a pause"),
    ],
)
async def test_a_tool_runs_once_whatever_an_operator_does(
    client: Client, tmp_path: Path, actions: list[Action]
) -> None:
    write_tool(tmp_path / "tools", "x", ACTING)
    model = Replies([calls(("x", {})), says("Done.")])
    quick: dict[str, Any] = {"heartbeat_throttle": 0.2, "heartbeat_output_interval": 0.1}

    async with asyncio.timeout(40), working(client, tmp_path, model, **quick) as queue:
        run = await start(client, queue)
        await pid_in(tmp_path / "pid")
        operator = Operator(client, run)
        for action in actions:
            await operator.act(action)
            await operator.until_heard()
        (tmp_path / "go").touch()
        finished = await finish(run)

    assert (finished.result.answer, (tmp_path / "runs").read_text()) == ("Done.", "once\n")


async def test_a_paused_call_whose_worker_was_killed_is_lost_and_not_made_again(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", ACTING, heartbeatSeconds=2)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    queue = new_queue()

    async with asyncio.timeout(40):
        with WorkerProcess(client, tmp_path, queue=queue) as first:
            run = await start(client, queue, model=f"scripted:{tmp_path / 'script.yaml'}")
            await pid_in(tmp_path / "pid")
            await until_running(run, lambda one: one.captured is not None)
            operator = Operator(client, run)
            await operator.act("pause")
            first.kill()
        await operator.act("unpause as if never tried")
        with WorkerProcess(client, tmp_path, queue=queue):
            finished = await finish(run)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, (tmp_path / "runs").read_text()) == ("TOOL_LOST", "once\n")
