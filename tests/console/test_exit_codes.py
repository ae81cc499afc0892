import asyncio
import signal
import socket
from collections.abc import Generator
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from tests.console.command import Surefoot
from tests.console.tools_on_disk import write_tool

pytestmark = pytest.mark.slow


def script(directory: Path, steps: str) -> str:
    file = directory / "script.yaml"
    file.write_text(steps)
    return f"scripted:{file}"


def test_a_model_that_refuses_is_1_and_one_line(surefoot: Surefoot) -> None:
    model = script(surefoot.directory, "steps: [{fail: {refused: the key was revoked}}]")

    ended = surefoot("run", "Go on.", "--model", model)

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert ended.stderr.splitlines()[-1] == "  the key was revoked"
    assert "Traceback" not in ended.stderr


def test_a_model_that_cannot_be_read_three_times_is_1(surefoot: Surefoot) -> None:
    model = script(surefoot.directory, "steps: [{unreadable: half an object, repeat: 3}]")

    ended = surefoot("run", "Go on.", "--model", model, "-o", "jsonl")

    assert ended.exit_code == 1
    assert ended.event("run_finished")["status"] == "failed"
    assert "half an object" in ended.event("run_finished")["error"]


def test_a_model_that_recovers_is_0_and_its_trouble_is_told(surefoot: Surefoot) -> None:
    model = script(surefoot.directory, "steps: [{fail: {unavailable: overloaded, times: 1}, say: Back.}]")

    ended = surefoot("run", "Go on.", "--model", model)

    assert (ended.exit_code, ended.stdout) == (0, "Back.\n")
    assert "Traceback" not in ended.stderr


def test_a_turn_limit_is_3_and_the_answer_is_what_the_model_had(surefoot: Surefoot) -> None:
    write_tool(surefoot.directory, "again")
    steps = "steps: [{say: Once more., call: [{again: {}}], repeat: 99}]\nclosing: {say: So far so good.}"
    model = script(surefoot.directory, steps)

    ended = surefoot("run", "Go on.", "--model", model, "--tools", ".", "--max-turns", 2, "-o", "jsonl")
    finished = ended.event("run_finished")

    assert (ended.exit_code, finished["status"], finished["answer"]) == (
        3,
        "limit_reached",
        "So far so good.",
    )
    assert finished["error"] == "limit of 2 turns"
    assert [event["turn"] for event in ended.events if event["type"] == "turn_started"] == [1, 2, 3]


async def test_a_run_that_is_cancelled_from_outside_is_5(surefoot: Surefoot, client: Client) -> None:
    write_tool(surefoot.directory, "endless", "echo begun >&2; exec sleep 60")
    model = script(surefoot.directory, "steps: [{call: [{endless: {}}]}]")
    command = surefoot.start("run", "Go on.", "--model", model, "--tools", ".", "-o", "jsonl")
    started = await asyncio.to_thread(command.until_printed, "run_started")
    await asyncio.to_thread(command.until_printed, "tool_execution_scheduled")

    await client.get_workflow_handle(started["workflow_id"]).cancel()
    ended = await asyncio.to_thread(command.ends)

    assert (ended.exit_code, ended.event("run_finished")["status"]) == (5, "cancelled")


async def test_a_run_that_is_terminated_is_1_and_says_so(surefoot: Surefoot, client: Client) -> None:
    model = script(surefoot.directory, "steps: [{say: Too late., delay_seconds: 60}]")
    command = surefoot.start("run", "Go on.", "--model", model, "-o", "jsonl")
    started = await asyncio.to_thread(command.until_printed, "run_started")

    await client.get_workflow_handle(started["workflow_id"]).terminate(reason="by an operator")
    ended = await asyncio.to_thread(command.ends)
    finished = ended.event("run_finished")

    assert (ended.exit_code, finished["status"], finished["error"]) == (
        1,
        "failed",
        "the run was terminated: by an operator",
    )


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, id="SIGTERM"),
        pytest.param(signal.SIGHUP, id="a terminal that is closed"),
    ],
)
async def test_leaving_a_run_is_130_and_the_run_stays_open(
    surefoot: Surefoot, client: Client, number: signal.Signals
) -> None:
    model = script(surefoot.directory, "steps: [{say: Later., delay_seconds: 60}]")
    environment = {"SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT": "0"}
    command = surefoot.start("run", "Go on.", "--model", model, "-o", "jsonl", environment=environment)
    started = await asyncio.to_thread(command.until_printed, "turn_started") and command.until_printed(
        "run_started"
    )

    command.signal(number)
    ended = await asyncio.to_thread(command.ends)
    description = await client.get_workflow_handle(started["workflow_id"]).describe()
    await client.get_workflow_handle(started["workflow_id"]).terminate()

    assert (ended.exit_code, description.status) == (130, WorkflowExecutionStatus.RUNNING)
    assert "Leaving; the run goes on with `surefoot dev`." in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_second_signal_ends_a_command_at_once(surefoot: Surefoot) -> None:
    write_tool(surefoot.directory, "brief", "echo begun; exec sleep 8")
    model = script(surefoot.directory, "steps: [{call: [{brief: {}}]}]")
    command = surefoot.start("run", "Go on.", "--model", model, "--tools", ".", "-o", "jsonl")
    command.until_printed("tool_execution_scheduled")

    command.signal(signal.SIGINT)
    command.until_it_says("Ctrl-C again leaves at once")
    command.signal(signal.SIGINT)

    assert command.ends(seconds=5).exit_code == 130


@pytest.fixture
def silent_port() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_server_that_does_not_answer_is_4(surefoot: Surefoot, silent_port: int) -> None:
    address = f"127.0.0.1:{silent_port}"

    ended = surefoot("run", "Go on.", "--model", "scripted:any.yaml", "--address", address)

    assert (ended.exit_code, ended.stdout) == (4, "")
    assert ended.stderr == f"surefoot: cannot reach Temporal at {address}: no answer within 5 seconds\n"
