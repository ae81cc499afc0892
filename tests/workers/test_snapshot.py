import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue
from temporalio import activity
from temporalio.api.common.v1 import Payload, WorkflowExecution
from temporalio.api.workflowservice.v1 import PauseActivityRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import RawValue

from activities.interface import Capture
from activities.model import ModelUnavailableError
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.workers.real_workers import new_queue, pid_in, until_running, working
from tests.workflows.agents import Replies, calls, finish, never, says, serving, start, tool
from workers.snapshot import snapshot_of


async def test_what_runs_side_by_side_is_shown_in_the_order_it_was_scheduled(
    client: Client, tmp_path: Path
) -> None:
    script = f'{SHELL}printf %s "$1"; echo oh >&2; {WAIT_FOR_GO}'
    write_tool(tmp_path / "tools", "x", script)
    write_tool(tmp_path / "tools", "y", script)
    model = Replies([calls(("y", {"n": 1}), ("x", {"n": 2})), says("Done.")])
    began = datetime.now(UTC)

    async with asyncio.timeout(20), working(client, tmp_path, model) as queue:
        run = await start(client, queue)
        await until_running(run, lambda one: one.captured == _told('{"n": 1}', one.captured))
        await until_running(run, lambda one: one.captured == _told('{"n": 2}', one.captured))
        snapshot = await snapshot_of(run, served=True)
        (tmp_path / "go").touch()
        await finish(run)
        after = await snapshot_of(run, served=True)

    assert (snapshot.status, snapshot.served, snapshot.closed_at) == (
        WorkflowExecutionStatus.RUNNING,
        True,
        None,
    )
    shown = [(one.activity_id, one.activity_type, one.attempt, one.captured) for one in snapshot.running]
    assert shown == [
        ("1-1", "y", 1, _told('{"n": 1}', snapshot.running[0].captured)),
        ("1-2", "x", 1, _told('{"n": 2}', snapshot.running[1].captured)),
    ]
    for one in snapshot.running:
        assert one.started_at is not None
        assert began < one.started_at < datetime.now(UTC)
        assert (one.next_attempt_at, one.last_failure) == (None, None)
    assert (after.status, after.running) == (WorkflowExecutionStatus.COMPLETED, ())
    assert after.closed_at is not None
    assert began < after.closed_at < datetime.now(UTC)


def _told(stdout: str, seen: Capture | None) -> Capture:
    return (seen or Capture()).model_copy(update={"exit_code": None, "stdout": stdout, "stderr": "oh\n"})


async def test_a_call_that_nobody_has_taken_is_shown_as_waiting(client: Client) -> None:
    remote = tool("x", never, executorQueue=new_queue())
    async with asyncio.timeout(20), serving(client, Replies([calls(("x", {}))]), [remote]) as queue:
        run = await start(client, queue)
        waiting = await until_running(run, lambda one: one.activity_type == "x")
        await run.terminate()

    assert (waiting.started_at, waiting.captured, waiting.attempt) == (None, None, 1)


async def test_a_turn_between_two_attempts_says_when_it_goes_on_and_why_it_waits(client: Client) -> None:
    away = ModelUnavailableError("503: overloaded", timedelta(minutes=5))
    async with asyncio.timeout(20), serving(client, Replies([away])) as queue:
        run = await start(client, queue)
        waiting = await until_running(run, lambda one: one.last_failure is not None)
        in_five_minutes = datetime.now(UTC) + timedelta(minutes=5)
        await run.terminate()

    assert (waiting.activity_id, waiting.started_at) == ("turn-1", None)
    assert (waiting.attempt, waiting.last_failure) == (2, "503: overloaded")
    assert waiting.next_attempt_at is not None
    assert abs(waiting.next_attempt_at - in_five_minutes) < timedelta(seconds=5)


async def test_a_tool_that_was_paused_and_still_runs_is_shown_as_running(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1")
    async with (
        asyncio.timeout(20),
        working(client, tmp_path, Replies([calls(("x", {})), says("Done.")])) as queue,
    ):
        run = await start(client, queue)
        await pid_in(tmp_path / "pid")
        execution = WorkflowExecution(workflow_id=run.id)
        await client.workflow_service.pause_activity(
            PauseActivityRequest(namespace=client.namespace, execution=execution, id="1-1")
        )
        (paused,) = (await snapshot_of(run, served=True)).running
        (tmp_path / "go").touch()
        await finish(run)

    assert paused.started_at is not None


@pytest.mark.parametrize(
    "details",
    [
        pytest.param("half of it", id="text"),
        pytest.param({"stdout": 7}, id="a number as stdout"),
        pytest.param(
            RawValue(Payload(metadata={"encoding": b"json/plain"}, data=b"{")), id="half a JSON value"
        ),
        pytest.param(
            RawValue(Payload(metadata={"encoding": b"odd"}, data=b"\x00")), id="an unknown encoding"
        ),
        pytest.param(RawValue(Payload(data=b"\xff")), id="no encoding"),
    ],
)
async def test_heartbeats_that_nobody_can_read_show_no_output(client: Client, details: object) -> None:
    may_end = asyncio.Event()

    async def beat(_: RawValue) -> JsonValue:
        activity.heartbeat(details)
        await may_end.wait()
        return 1

    model = Replies([calls(("x", {})), says("Done.")])
    async with asyncio.timeout(20), serving(client, model, [tool("x", beat)]) as queue:
        run = await start(client, queue)
        while not await _has_beaten(client, run.id):  # noqa: ASYNC110  another process
            await asyncio.sleep(0.02)
        (running,) = (await snapshot_of(run, served=True)).running
        may_end.set()
        await run.result()

    assert (running.activity_type, running.captured) == ("x", None)


async def _has_beaten(client: Client, workflow_id: str) -> bool:
    described = await client.get_workflow_handle(workflow_id).describe()
    pending = described.raw_description.pending_activities
    return any(one.heartbeat_details.payloads for one in pending)
