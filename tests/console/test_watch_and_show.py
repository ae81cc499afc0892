import asyncio
import json
import signal
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from tests.conftest import RealServer
from tests.console.command import MODEL, Surefoot
from tests.console.lasting_tools import Gated
from tests.console.tools_on_disk import write_tool

LOOK = "steps: [{call: [{look: {}}]}, {say: Looked.}]"


def test_whoever_comes_when_no_worker_is_left_sees_the_same(surefoot: Surefoot) -> None:
    write_tool(surefoot.directory, "look", "echo true")
    (surefoot.directory / "look.yaml").write_text(LOOK)
    ran = surefoot("run", "Go on.", "--model", "scripted:look.yaml", "--tools", ".", "-o", "jsonl")
    name = ran.event("run_started")["workflow_id"]

    watched, shown = surefoot("watch", name, "-o", "jsonl"), surefoot("show", name, "-o", "json")

    assert (watched.exit_code, shown.exit_code) == (0, 0)
    assert watched.stdout == ran.stdout
    told = json.loads(shown.stdout)
    assert (told["prompt"], told["status"], told["answer"]) == ("Go on.", "completed", "Looked.")
    assert [(turn["text"], len(turn["tool_calls"])) for turn in told["transcript"]] == [
        ("", 1),
        ("Looked.", 0),
    ]


def test_a_run_that_failed_is_1_to_a_watcher_and_0_to_a_reader(surefoot: Surefoot) -> None:
    (surefoot.directory / "refuse.yaml").write_text("steps: [{fail: {refused: no such key}}]")
    surefoot("run", "Go on.", "--model", "scripted:refuse.yaml", "--workflow-id", "refused-run")

    watched, shown = surefoot("watch", "refused-run"), surefoot("show", "refused-run")

    assert (watched.exit_code, shown.exit_code) == (1, 0)
    assert shown.stdout.startswith("run refused-run with scripted:")
    assert "> Go on.\nturn 1\n" in watched.stderr
    assert "failed after 1 turn" in watched.stderr
    assert "failed after 1 turn" in shown.stdout


@pytest.mark.long
async def test_a_watcher_may_leave_and_the_run_goes_on(
    surefoot: Surefoot, server: RealServer, client: Client
) -> None:
    place = ("--address", server.address)
    asked = (*MODEL, "--queue", "nobody", "--workflow-id", "left-alone", "--detach")
    detached = await asyncio.to_thread(surefoot, "run", "Go on.", *asked, *place)
    watching = surefoot.start("watch", "left-alone", *place)
    unserved = "no worker answers for this run yet (queue nobody)"
    await asyncio.to_thread(watching.until_it_says, unserved)

    shown = await asyncio.to_thread(surefoot, "show", "left-alone", *place)
    watching.signal(signal.SIGINT)
    left = await asyncio.to_thread(watching.ends)
    run = client.get_workflow_handle("left-alone")
    description = await run.describe()
    await run.terminate()

    again = f"`surefoot watch left-alone --address {server.address}`"
    assert detached.stderr.endswith(f"\n{again} follows it\n")
    assert (left.exit_code, description.status) == (130, WorkflowExecutionStatus.RUNNING)
    assert f"Leaving; the run goes on at {server.address}. {again} shows it again." in left.stderr
    assert shown.stderr == f"the run goes on, once somebody serves it; {again} follows it\n"
    assert shown.stdout.startswith("run left-alone with scripted:")


@pytest.mark.parametrize("command", ["watch", "show"])
def test_an_unknown_run_is_a_usage_error(surefoot: Surefoot, command: str) -> None:
    ended = surefoot(command, "nothing")

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr == "surefoot: there is no run 'nothing'\n"


@pytest.mark.long
def test_a_watcher_outlasts_a_server_and_a_worker_that_go_away(surefoot_alone: Surefoot) -> None:
    tool = Gated(surefoot_alone.directory / "tools")
    (surefoot_alone.directory / "gated.yaml").write_text("steps: [{call: [{gated: {}}]}, {say: Open.}]")
    dev = surefoot_alone.start("dev")
    dev.until(surefoot_alone.server)
    asked = ("--model", "scripted:gated.yaml", "--tools", "tools", "--workflow-id", "gated-run")
    running = surefoot_alone.start("run", "Go on.", *asked)
    running.until(tool.has_begun)
    watching = surefoot_alone.start("watch", "gated-run", "-o", "jsonl")
    watching.until_printed("tool_execution_scheduled")

    surefoot_alone.kill_server()
    dev.until(surefoot_alone.server)
    running.kill()
    tool.open()
    watched = watching.ends(seconds=60)

    assert watched.exit_code == 0, watched.stderr
    assert watched.events[-1]["status"] == "completed"
    shown = surefoot_alone("show", "gated-run", "-o", "jsonl")
    assert [_timeless(event) for event in shown.events] == [_timeless(event) for event in watched.events]


def _timeless(event: dict[str, Any]) -> dict[str, Any]:
    # A worker that is asked before its first task of a run answers from what no task has worked on yet, at
    # the time of the last one.
    return {name: value for name, value in event.items() if name not in ("time", "ui_url")}
