import asyncio
import hashlib
import os
import secrets
import signal
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError

from surefoot.events import ToolExecutionFailed, ToolExecutionStarted
from surefoot.outcome import ToolFailure
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.executors.go_executor import EXAMPLE, ExecutorProcess, example_tool, processes_naming, remote
from tests.workers.real_workers import says as beats
from tests.workers.real_workers import until_running
from tests.workflows.agents import Finished, Replies, calls, finish, run_agent, says, serving, start

pytestmark = pytest.mark.long

SUM = hashlib.sha256(b"one").hexdigest()
FIRST_LINE = f"{SUM}  one\n"


@dataclass(frozen=True)
class Files:
    """The directory of an executor: the file `one`, and a pipe that keeps its reader waiting."""

    directory: Path
    pipe: str

    def readers(self) -> list[int]:
        return processes_naming(f"-- one {self.pipe}")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    pipe = f"pipe-{secrets.token_hex(4)}"
    (tmp_path / "one").write_text("one")
    os.mkfifo(tmp_path / pipe)
    return Files(tmp_path, pipe)


@pytest.fixture
def executor(checksum_program: Path, server: RealServer, files: Files) -> Generator[ExecutorProcess]:
    with ExecutorProcess(checksum_program, server, files.directory) as process:
        yield process


async def checksum(client: Client, executor: ExecutorProcess, *paths: str, **more: object) -> Finished:
    """Have a run call the example's tool once."""
    replies = [calls(("checksum", {"paths": [*paths]})), says("Done.")]
    return await run_agent(client, replies, [example_tool(queue=executor.queue, **more)])


async def until_it_reads_the_pipe(run: WorkflowHandle[Any, Any]) -> None:
    async with asyncio.timeout(20):
        await until_running(run, beats(FIRST_LINE))


def only_failure(finished: Finished) -> ToolFailure:
    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    return outcome


def test_a_run_offers_the_example_by_its_manifest_alone(
    surefoot: Surefoot, server: RealServer, checksum_program: Path, files: Files
) -> None:
    script = "steps: [{call: [{checksum: {paths: [one]}}]}, {say: '{{last.result.sums.one}}'}]\n"
    (files.directory / "script.yaml").write_text(script)
    with ExecutorProcess(checksum_program, server, files.directory, queue="executor-go"):
        ended = surefoot("run", "Go.", "--model", "scripted:script.yaml", "--tools", EXAMPLE, "-o", "jsonl")

    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, SUM)


async def test_a_file_that_is_missing_is_an_answer(client: Client, executor: ExecutorProcess) -> None:
    finished = await checksum(client, executor, "one", "two")

    assert [outcome.model_dump() for outcome in finished.outcomes] == [
        {
            "tool": "checksum",
            "tool_success": True,
            "result": {
                "success": False,
                "error": "sha256sum: two: No such file or directory\n",
                "sums": {"one": SUM},
            },
        }
    ]


async def test_a_failure_of_its_own_reaches_the_model_with_what_was_captured(
    client: Client, executor: ExecutorProcess, files: Files
) -> None:
    tools = [example_tool(queue=executor.queue)]
    replies = [calls(("checksum", {"paths": ["one", files.pipe]})), says("Done.")]
    async with serving(client, Replies(replies), tools) as queue:
        run = await start(client, queue)
        await until_it_reads_the_pipe(run)
        (reader,) = files.readers()
        os.kill(reader, signal.SIGSEGV)
        finished = await finish(run)

    assert only_failure(finished).model_dump() == {
        "tool_success": False,
        "error": "Tool 'checksum' crashed with exit code 139",
        "error_code": "TOOL_CRASHED",
        "exit_code": 139,
        "stdout": FIRST_LINE,
        "stderr": "",
    }
    (started,) = (event for event in finished.events if isinstance(event, ToolExecutionStarted))
    assert started.started_at is not None
    assert started.executor is not None


async def test_its_own_deadline_kills_and_tells(
    client: Client, executor: ExecutorProcess, files: Files
) -> None:
    finished = await checksum(client, executor, "one", files.pipe, timeoutSeconds=1.5)

    failure = only_failure(finished)
    assert (failure.error_code, failure.error, failure.stdout, files.readers()) == (
        "TOOL_TIMEOUT",
        "Tool 'checksum' timed out after 1.5s",
        FIRST_LINE,
        [],
    )


@pytest.mark.parametrize(
    ("death", "code"),
    [
        pytest.param(ExecutorProcess.kill, "TOOL_LOST", id="SIGKILL, of which the heartbeat tells"),
        pytest.param(ExecutorProcess.terminate, "TOOL_INTERRUPTED", id="SIGTERM, of which it tells itself"),
    ],
)
async def test_an_executor_that_ends_leaves_the_output_and_no_process(
    client: Client,
    executor: ExecutorProcess,
    files: Files,
    death: Callable[[ExecutorProcess], object],
    code: str,
) -> None:
    tools = [example_tool(queue=executor.queue, heartbeatSeconds=2)]
    replies = [calls(("checksum", {"paths": ["one", files.pipe]})), says("Done.")]
    async with serving(client, Replies(replies), tools) as queue:
        run = await start(client, queue)
        await until_it_reads_the_pipe(run)
        await asyncio.to_thread(death, executor)
        finished = await finish(run)

    failure = only_failure(finished)
    assert (failure.error_code, failure.stdout, files.readers()) == (code, FIRST_LINE, [])


async def test_cancelling_the_run_reaches_it_within_three_seconds(
    client: Client, executor: ExecutorProcess, files: Files
) -> None:
    tools = [example_tool(queue=executor.queue)]
    replies = [calls(("checksum", {"paths": ["one", files.pipe]}))]
    async with serving(client, Replies(replies), tools) as queue:
        run = await start(client, queue)
        await until_it_reads_the_pipe(run)
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as ended:
            await asyncio.wait_for(run.result(), 3)

    assert isinstance(ended.value.cause, CancelledError)
    assert files.readers() == []


async def test_a_tool_that_it_lacks_is_not_found(client: Client, executor: ExecutorProcess) -> None:
    replies = [calls(("chemistry", {})), says("Done.")]

    finished = await run_agent(client, replies, [remote("chemistry", queue=executor.queue)])

    assert (only_failure(finished).error_code, only_failure(finished).error) == (
        "TOOL_NOT_FOUND",
        "Tool 'chemistry' is not known to the executor that was asked for it",
    )
    assert [event.acted for event in finished.events if isinstance(event, ToolExecutionFailed)] == ["no"]
