import asyncio
import os
import signal
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from surefoot.events import (
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionStarted,
)
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import PYTHON, SHELL, WAIT_FOR_GO, write_tool
from tests.activities.tools.tool_run import is_alive, until
from tests.workers.real_workers import (
    WorkerProcess,
    new_queue,
    pid_in,
    says,
    until_running,
    worker_of,
    working,
)
from tests.workflows.agents import Replies, calls, finish, start
from tests.workflows.agents import says as answers

LOST = "Tool 'x' was lost: its worker stopped answering; it may or may not have taken effect"
INTERRUPTED = (
    "Tool 'x' was interrupted: its worker was shut down before it finished; "
    "it may or may not have taken effect"
)


def one_call() -> Replies:
    return Replies([calls(("x", {})), answers("Done.")])


def failure(code: str, error: str, **more: Any) -> ToolFailure:  # noqa: ANN401  what a field may hold
    keys = {"exit_code": None, "stdout": "", "stderr": ""}
    return ToolFailure.model_validate({"error": error, "error_code": code, **keys, **more})


async def test_real_tools_reach_the_model_with_their_outcomes_in_the_order_asked(
    client: Client, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    write_tool(tools, "slow", SHELL + "echo item 1; exec sleep 300", timeoutSeconds=1)
    write_tool(tools, "buggy", PYTHON + "import ctypes; ctypes.string_at(0)")
    write_tool(tools, "broken", SHELL + "echo 'not valid json{{{'; echo oh >&2")
    write_tool(tools, "fine", SHELL + 'printf %s "$1"')
    model = Replies(
        [calls(("slow", {}), ("buggy", {}), ("broken", {}), ("fine", {"a": "é"})), answers("Done.")]
    )

    async with asyncio.timeout(20), working(client, tmp_path, model) as queue:
        finished = await finish(await start(client, queue))

    assert finished.outcomes == [
        failure("TOOL_TIMEOUT", "Tool 'slow' timed out after 1s", stdout="item 1\n"),
        failure("TOOL_CRASHED", "Tool 'buggy' crashed with exit code 139", exit_code=139),
        failure(
            "INVALID_OUTPUT",
            "Tool 'broken' returned invalid JSON",
            exit_code=0,
            stdout="not valid json{{{\n",
            stderr="oh\n",
        ),
        ToolSuccess(tool="fine", result={"a": "é"}),
    ]


@pytest.mark.parametrize(
    ("script", "ended"),
    [
        pytest.param("echo 1", ToolExecutionCompleted, id="answers"),
        pytest.param("exit 3", ToolExecutionFailed, id="fails"),
    ],
)
async def test_the_ledger_tells_who_ran_a_call_and_when(
    client: Client, tmp_path: Path, script: str, ended: type[ToolExecutionCompleted | ToolExecutionFailed]
) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + script)
    began = datetime.now(UTC)

    async with asyncio.timeout(20), working(client, tmp_path, one_call()) as queue:
        finished = await finish(await start(client, queue))

    (told,) = [event for event in finished.events if isinstance(event, ToolExecutionStarted)]
    (ending,) = [event for event in finished.events if isinstance(event, ended)]
    assert told.executor == client.identity
    assert told.started_at is not None
    assert began <= told.started_at <= ending.time


async def test_what_a_tool_has_said_can_be_seen_while_it_runs(client: Client, tmp_path: Path) -> None:
    script = f"{SHELL}printf '[1,'; echo oh >&2; {WAIT_FOR_GO}; echo '2]'"
    write_tool(tmp_path / "tools", "x", script)

    async with asyncio.timeout(20), working(client, tmp_path, one_call()) as queue:
        run = await start(client, queue)
        seen = await until_running(run, says("[1,"))
        (tmp_path / "go").touch()
        finished = await finish(run)

    assert seen.captured is not None
    assert (seen.activity_id, seen.activity_type, seen.captured.stderr) == ("1-1", "x", "oh\n")
    assert seen.started_at is not None
    assert finished.outcomes == [ToolSuccess(tool="x", result=[1, 2])]


async def test_cancelling_a_run_kills_its_tools_within_seconds(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; exec sleep 300", timeoutSeconds=300)

    async with asyncio.timeout(20), working(client, tmp_path, one_call()) as queue:
        run = await start(client, queue)
        pid = await pid_in(tmp_path / "pid")
        async with asyncio.timeout(5):
            await run.cancel()
            with pytest.raises(WorkflowFailureError) as failed:
                await run.result()
        alive = is_alive(pid)

    assert isinstance(failed.value.cause, CancelledError)
    assert not alive


async def test_terminating_a_run_kills_its_tools_within_seconds(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; exec sleep 300", timeoutSeconds=300)

    async with asyncio.timeout(20), working(client, tmp_path, one_call()) as queue:
        run = await start(client, queue)
        pid = await pid_in(tmp_path / "pid")
        await run.terminate()
        async with asyncio.timeout(5):
            await until(lambda: not is_alive(pid))


async def test_a_call_that_ends_within_the_shutdown_grace_counts(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1")
    model, queue = one_call(), new_queue()

    async with asyncio.timeout(30):
        async with worker_of(client, tmp_path, model, queue=queue) as first:
            run = await start(client, queue)
            await pid_in(tmp_path / "pid")
            leaving = asyncio.create_task(first.shutdown())
            await asyncio.sleep(0)
            (tmp_path / "go").touch()
            await leaving
        async with worker_of(client, tmp_path, model, queue=queue):
            finished = await finish(run)

    assert finished.outcomes == [ToolSuccess(tool="x", result=1)]


async def test_a_call_that_outlasts_the_shutdown_grace_is_interrupted_and_the_run_goes_on(
    client: Client, tmp_path: Path
) -> None:
    write_tool(
        tmp_path / "tools", "x", f"{SHELL}echo item 1; echo $$ > pid; exec sleep 300", timeoutSeconds=300
    )
    model, queue = one_call(), new_queue()

    async with asyncio.timeout(30):
        async with worker_of(client, tmp_path, model, queue=queue, graceful_shutdown_timeout=0.5):
            run = await start(client, queue)
            pid = await pid_in(tmp_path / "pid")
        alive = is_alive(pid)
        async with worker_of(client, tmp_path, model, queue=queue):
            finished = await finish(run)

    assert not alive
    assert finished.outcomes == [failure("TOOL_INTERRUPTED", INTERRUPTED, stdout="item 1\n")]
    assert finished.result.answer == "Done."


SCRIPTED = """
steps:
  - call: [{x: }]
  - choose:
      - when: {tool: x}
        say: "It came to {{matched.error_code}}."
"""


@pytest.mark.slow
async def test_a_call_of_a_worker_that_was_killed_is_lost_and_made_once(
    client: Client, tmp_path: Path
) -> None:
    script = f"{SHELL}echo acted >> effects; echo item 1; echo $$ > pid; exec sleep 300"
    write_tool(tmp_path / "tools", "x", script, timeoutSeconds=300, heartbeatSeconds=2)
    (tmp_path / "script.yaml").write_text(SCRIPTED)
    queue = new_queue()

    async with asyncio.timeout(50):
        with WorkerProcess(client, tmp_path, queue=queue) as first:
            run = await start(client, queue, model=f"scripted:{tmp_path / 'script.yaml'}")
            pid = await pid_in(tmp_path / "pid")
            await until_running(run, says("item 1\n"))
            first.kill()
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with WorkerProcess(client, tmp_path, queue=queue):
            finished = await finish(run)

    assert finished.outcomes == [failure("TOOL_LOST", LOST, stdout="item 1\n")]
    assert (tmp_path / "effects").read_text() == "acted\n"
    assert finished.result.answer == "It came to TOOL_LOST."


@pytest.mark.slow
async def test_a_worker_that_inherits_an_ignored_sigchld_still_sees_a_crash(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + 'echo \'{"looks": "fine"}\'; exit 3')
    (tmp_path / "script.yaml").write_text(SCRIPTED)
    queue = new_queue()
    ignoring = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"

    async with asyncio.timeout(30):
        with WorkerProcess(client, tmp_path, queue=queue, before=ignoring):
            finished = await finish(await start(client, queue, model=f"scripted:{tmp_path / 'script.yaml'}"))

    assert finished.outcomes == [
        failure(
            "TOOL_CRASHED", "Tool 'x' crashed with exit code 3", exit_code=3, stdout='{"looks": "fine"}\n'
        )
    ]
