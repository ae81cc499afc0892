import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity, workflow
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
)
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.activities.tools.tool_run import is_alive
from tests.workers.real_workers import new_queue, pid_in, until_running, worker_of, working
from tests.workflows.agents import Replies, calls, finish, says, start
from workers.snapshot import RunningActivity

CALL: dict[str, Any] = {"tool": "x", "params": {}, "call_id": "run-1/1-1", "timeout_seconds": 20}
INTERRUPTED = (
    "Tool 'x' was interrupted: its worker was shut down before it finished; "
    "it may or may not have taken effect"
)
QUICK_BEATS: dict[str, Any] = {"heartbeat_throttle": 0.2, "heartbeat_output_interval": 0.1}
TICKING = f"{SHELL}echo once >> runs; echo $$ > pid; while [ ! -e go ]; do printf 1; sleep 0.1; done"


@workflow.defn(name="calling")
class Calling:
    """Calls a tool with whatever input, and once more if that may help."""

    @workflow.run
    async def run(self, queue: str, given: list[Any]) -> Any:  # noqa: ANN401  what a tool may answer
        return await workflow.execute_activity(
            "x",
            args=given,
            task_queue=queue,
            start_to_close_timeout=timedelta(seconds=20),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10), maximum_attempts=3),
        )


@asynccontextmanager
async def calling(
    client: Client, queue: str, given: Sequence[object]
) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Have the tool x of a queue called by a workflow that retries."""
    own = new_queue()
    async with Worker(
        client, task_queue=own, workflows=[Calling], workflow_runner=UnsandboxedWorkflowRunner()
    ):
        yield await client.start_workflow("calling", args=[queue, given], id=f"calling-{own}", task_queue=own)


@activity.defn(dynamic=True)
async def beat_and_hang(_arguments: Sequence[RawValue]) -> None:
    """A first attempt that beats, and that its worker's shutdown ends."""
    activity.heartbeat({"stdout": "half of it", "stderr": "", "started_at": "2026-01-01T00:00:00+00:00"})
    await asyncio.Event().wait()


async def failure_of(run: WorkflowHandle[Any, Any]) -> ApplicationError:
    with pytest.raises(WorkflowFailureError) as failed:
        await run.result()
    assert isinstance(failed.value.cause, ActivityError)
    assert isinstance(failed.value.cause.cause, ApplicationError)
    return failed.value.cause.cause


async def second_attempt(client: Client, directory: Path, queue: str) -> WorkflowHandle[Any, Any]:
    """Leave a call whose first attempt had its worker taken away."""
    async with calling(client, queue, [CALL]) as run:
        async with Worker(client, task_queue=queue, activities=[beat_and_hang]):
            await until_running(run, lambda one: one.captured is not None)
        async with worker_of(client, directory, Replies([]), queue=queue):
            await asyncio.wait({asyncio.create_task(run.result())})
    return run


async def test_a_second_attempt_does_not_run_the_tool_again(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + "echo once >> runs; echo 1")

    async with asyncio.timeout(30):
        failed = await failure_of(await second_attempt(client, tmp_path, new_queue()))

    assert (failed.type, failed.message, failed.non_retryable) == ("TOOL_INTERRUPTED", INTERRUPTED, True)
    assert list(failed.details) == [
        {"exit_code": None, "stdout": "half of it", "stderr": "", "started_at": "2026-01-01T00:00:00+00:00"}
    ]
    assert not (tmp_path / "runs").exists()


async def test_a_second_attempt_runs_a_tool_that_says_it_is_idempotent(
    client: Client, tmp_path: Path
) -> None:
    idempotent = {"idempotentHint": True}
    write_tool(tmp_path / "tools", "x", SHELL + "echo once >> runs; echo 1", annotations=idempotent)

    async with asyncio.timeout(30):
        answered = await (await second_attempt(client, tmp_path, new_queue())).result()

    assert (answered, (tmp_path / "runs").read_text()) == (1, "once\n")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param([], "Input should be a valid dictionary or instance of ToolCallInput", id="nothing"),
        pytest.param(["ls"], "Input should be a valid dictionary or instance of ToolCallInput", id="text"),
        pytest.param([{"tool": "x"}], "params\n  Field required", id="an object without params"),
    ],
)
async def test_an_input_that_is_no_tool_call_is_refused(
    client: Client, tmp_path: Path, given: list[object], problem: str
) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + "echo once >> runs; echo 1")
    queue = new_queue()

    async with (
        asyncio.timeout(20),
        worker_of(client, tmp_path, Replies([]), queue=queue),
        calling(client, queue, given) as run,
    ):
        failed = await failure_of(run)

    assert failed.type == "INVALID_PARAMS"
    assert "the activity's input is no tool call" in failed.message
    assert problem in failed.message
    assert not (tmp_path / "runs").exists()


async def test_a_tool_that_is_not_here_is_not_found(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "another", SHELL + "echo 1")
    queue = new_queue()

    async with (
        asyncio.timeout(20),
        worker_of(client, tmp_path, Replies([]), queue=queue),
        calling(client, queue, [CALL]) as run,
    ):
        failed = await failure_of(run)

    assert (failed.type, failed.message) == (
        "TOOL_NOT_FOUND",
        "Tool 'x' is not known to the executor that was asked for it",
    )


async def test_a_tool_that_is_silent_is_not_taken_for_dead_however_seldom_its_worker_would_beat(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}sleep 2.3; echo 1", heartbeatSeconds=2)
    model = Replies([calls(("x", {})), says("Done.")])
    seldom: dict[str, Any] = {"heartbeat_output_interval": 60, "heartbeat_idle_interval": 60}

    async with asyncio.timeout(20), working(client, tmp_path, model, **seldom) as queue:
        finished = await finish(await start(client, queue))

    assert finished.outcomes == [ToolSuccess(tool="x", result=1)]


class Operator:
    """Does to the running call what can be clicked in the UI."""

    def __init__(self, client: Client, run: WorkflowHandle[Any, Any]) -> None:
        self._client = client
        self._run = run
        self._call: dict[str, Any] = {
            "namespace": client.namespace,
            "execution": WorkflowExecution(workflow_id=run.id),
            "id": "1-1",
        }

    async def pause(self) -> None:
        await self._client.workflow_service.pause_activity(PauseActivityRequest(**self._call))
        await self._until_heard()

    async def unpause(self) -> None:
        await self._client.workflow_service.unpause_activity(UnpauseActivityRequest(**self._call))
        await self._until_heard()

    async def reset(self) -> None:
        await self._client.workflow_service.reset_activity(ResetActivityRequest(**self._call))

    async def _until_heard(self) -> None:
        """Wait until the tool has gone on for some heartbeats: a worker hears of anything only by these."""
        said = len(_stdout(await until_running(self._run, lambda one: bool(_stdout(one)))))
        await until_running(self._run, lambda one: len(_stdout(one)) >= said + 12)


def _stdout(one: RunningActivity) -> str:
    return one.captured.stdout if one.captured else ""


@pytest.mark.parametrize(
    "then", [pytest.param("stay", id="paused"), pytest.param("go on", id="and unpaused")]
)
async def test_a_tool_that_an_operator_pauses_is_left_to_finish_and_its_outcome_counts(
    client: Client, tmp_path: Path, then: str
) -> None:
    write_tool(tmp_path / "tools", "x", TICKING)
    model = Replies([calls(("x", {})), says("Done.")])

    async with asyncio.timeout(40), working(client, tmp_path, model, **QUICK_BEATS) as queue:
        run = await start(client, queue)
        await pid_in(tmp_path / "pid")
        operator = Operator(client, run)
        await operator.pause()
        if then == "go on":
            await operator.unpause()
        (tmp_path / "go").touch()
        finished = await finish(run)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolSuccess)
    assert (tmp_path / "runs").read_text() == "once\n"
    assert finished.result.answer == "Done."


async def test_a_tool_that_an_operator_resets_is_cancelled_with_what_it_had_said(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", TICKING)
    model = Replies([calls(("x", {})), says("Done.")])

    async with asyncio.timeout(30), working(client, tmp_path, model) as queue:
        run = await start(client, queue)
        pid = await pid_in(tmp_path / "pid")
        await Operator(client, run).reset()
        finished = await finish(run)
        alive = is_alive(pid)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error) == ("TOOL_CANCELLED", "Tool 'x' was cancelled by an operator")
    assert set(outcome.stdout) == {"1"}
    assert not alive
    assert (tmp_path / "runs").read_text() == "once\n"


async def test_the_largest_limits_hold_whatever_a_tool_printed(client: Client, tmp_path: Path) -> None:
    """A control character is six bytes in JSON, and the server takes no payload above 2 MiB."""
    print_them = "head -c 70000 /dev/zero | tr '\\0' '\\1'"
    limits = {"stdout": 65_536, "stderr": 65_536}
    write_tool(tmp_path / "tools", "x", f"{SHELL}{print_them}; {print_them} >&2; exit 3", limits=limits)
    model = Replies([calls(("x", {})), says("Done.")])

    async with asyncio.timeout(20), working(client, tmp_path, model) as queue:
        finished = await finish(await start(client, queue))

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.exit_code) == ("TOOL_CRASHED", 3)
    assert min(len(outcome.stdout), len(outcome.stderr)) > 65_500
