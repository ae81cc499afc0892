import asyncio
import json
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from tests.conftest import RealServer
from tests.console.command import MODEL, Command, Surefoot
from tests.console.lasting_tools import Lingering
from tests.console.tools_on_disk import write_tool

pytestmark = pytest.mark.slow

ECHO_SCRIPT = "steps: [{call: [{echo: {n: 1}}]}, {say: 'It got {{last.result.got.n}}.'}]\n"
CODE_SCRIPT = "steps: [{call: [{%s: {}}]}, {say: '{{last.error_code}}'}]\n"


@pytest.fixture
def queue(tmp_path: Path) -> str:
    """A queue of this test's own on the server that all tests share."""
    return f"queue-of-{tmp_path.name}"


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    write_tool(tmp_path / "tools", "echo")
    return tmp_path / "tools"


def serving(command: Command) -> Command:
    command.until_it_says('"event": "serving"')
    return command


def scripted(surefoot: Surefoot, script: str) -> tuple[str, str]:
    (surefoot.directory / "script.yaml").write_text(script)
    return "--model", f"scripted:{surefoot.directory}/script.yaml"


def test_a_client_without_tools_has_its_run_served_by_a_worker(
    surefoot: Surefoot, server: RealServer, queue: str, tools: Path
) -> None:
    place = ("--address", server.address, "--queue", queue)
    worker = serving(surefoot.start("worker", *place, "--tools", tools))

    ended = surefoot("run", "Go on.", *place, *scripted(surefoot, ECHO_SCRIPT), "-o", "jsonl")
    worker.signal(signal.SIGTERM)
    stopped = worker.ends()

    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "It got 1.")
    assert ended.event("run_started")["ui_url"] is None
    assert (stopped.exit_code, stopped.stdout) == (0, "")
    assert {json.loads(line)["logger"] for line in stopped.stderr.splitlines() if line.startswith("{")} >= {
        "surefoot.worker"
    }


def test_temporals_own_environment_names_the_server(
    surefoot: Surefoot, server: RealServer, queue: str, tools: Path
) -> None:
    environment = {
        "TEMPORAL_ADDRESS": server.address,
        "SUREFOOT_TASK_QUEUE": queue,
        "SUREFOOT_UI_URL": server.ui_url,
    }
    serving(surefoot.start("worker", "--tools", tools, environment=environment))

    ended = surefoot(
        "run", "Go on.", *scripted(surefoot, ECHO_SCRIPT), "-o", "jsonl", environment=environment
    )

    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "It got 1.")
    assert ended.event("run_started")["ui_url"].startswith(f"{server.ui_url}/namespaces/default/workflows/")


def test_a_tool_of_an_executor_queue_runs_where_that_is_served(
    surefoot: Surefoot, queue: str, tools: Path
) -> None:
    here = surefoot.directory / "here"
    here.mkdir()
    write_tool(here, "echo", executorQueue=queue).unlink()
    serving(surefoot.start("worker", "--queue", queue, "--tools", tools))

    ended = surefoot("run", "Go on.", *scripted(surefoot, ECHO_SCRIPT), "--tools", here, "-o", "jsonl")

    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "It got 1.")
    assert ended.event("tool_execution_started")["executor"] is not None


def test_an_executor_queue_that_nobody_serves_is_an_invocation_timeout(
    surefoot: Surefoot, queue: str, tools: Path
) -> None:
    write_tool(tools, "gpu", executorQueue=queue, pickupTimeoutSeconds=1).unlink()

    ended = surefoot(
        "run", "Go on.", *scripted(surefoot, CODE_SCRIPT % "gpu"), "--tools", tools, "-o", "jsonl"
    )

    assert ended.event("run_finished")["answer"] == "TOOL_INVOCATION_TIMEOUT"
    assert ended.event("tool_execution_failed")["outcome"]["error"].startswith(
        f"Tool 'gpu' was not picked up within 1s on '{queue}': "
    )
    assert [event["type"] for event in ended.events if event.get("tool") == "gpu"] == [
        "tool_execution_scheduled",
        "tool_execution_failed",
    ]


async def test_a_run_that_nobody_serves_is_said_to_be_and_can_be_left(
    surefoot: Surefoot, server: RealServer, client: Client, queue: str
) -> None:
    place = ("--address", server.address, "--queue", queue)
    command = surefoot.start("run", "Go on.", *MODEL, *place, "--workflow-id", queue)
    command.until_it_says(f"no worker answers for this run yet (queue {queue})")

    command.signal(signal.SIGINT)
    ended = await asyncio.to_thread(command.ends)
    description = await client.get_workflow_handle(queue).describe()
    await client.get_workflow_handle(queue).terminate()

    assert (ended.exit_code, ended.stdout) == (130, "")
    assert description.status == WorkflowExecutionStatus.RUNNING
    assert f"Leaving; the run goes on at {server.address}." in ended.stderr


def test_a_detached_run_on_a_named_server_is_only_started(
    surefoot: Surefoot, server: RealServer, queue: str
) -> None:
    place = ("--address", server.address, "--queue", queue)

    ended = surefoot("run", "Go on.", *MODEL, *place, "--detach", "-o", "jsonl")

    assert (ended.exit_code, [event["type"] for event in ended.events]) == (0, ["run_started"])


@pytest.fixture
def lingering(tools: Path) -> Generator[Lingering]:
    tool = Lingering(tools)
    yield tool
    tool.end()


def test_a_call_whose_worker_is_stopped_is_interrupted_and_the_next_worker_goes_on(
    surefoot: Surefoot, server: RealServer, queue: str, tools: Path, lingering: Lingering
) -> None:
    place = ("--address", server.address, "--queue", queue)
    shared = ("--tools", tools, "--workspace", "shared")
    environment = {"SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT": "0"}
    worker = serving(surefoot.start("worker", *place, *shared, environment=environment))
    run = surefoot.start("run", "Go on.", *place, *scripted(surefoot, CODE_SCRIPT % "linger"), "-o", "jsonl")
    run.until(lingering.has_begun)

    worker.signal(signal.SIGTERM)
    stopped = worker.ends()
    serving(surefoot.start("worker", *place, *shared))
    ended = run.ends()

    assert stopped.exit_code == 0
    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "TOOL_INTERRUPTED")
    assert ended.event("tool_execution_failed")["outcome"]["stdout"] == "begun\n"
