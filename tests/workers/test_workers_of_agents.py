"""Agents that are called, and the workers of their runs."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from pydantic import JsonValue
from temporalio.client import Client

from activities.agents.agent_tool import AgentTool
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.console.tools_on_disk import write_tool
from tests.workers.real_workers import new_queue, until_running
from tests.workflows.agents import Replies, calls, finish, never, says, start, tool, until_event
from workers.settings import Settings
from workers.worker import build_worker

ASK: tuple[str, JsonValue] = ("reviewer", {"prompt": "Look at it."})


async def test_an_agent_that_the_worker_does_not_have_fails_its_call(client: Client, tmp_path: Path) -> None:
    definition = tool("reviewer", never, agent={"key": "reviewer"}).definition
    model = Replies([calls(ASK), says("Done.")])
    worker = build_worker(
        client,
        queue=new_queue(),
        tools={"reviewer": AgentTool(definition, "reviewer.md")},
        directory=tmp_path,
        environment={},
        open_model=lambda _turn, _attempt: model,
        settings=Settings(state_directory=tmp_path),
    )
    async with worker:
        finished = await finish(await start(client, worker.task_queue))

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert outcome.error == (
        "Tool 'reviewer' crashed: its run failed: "
        "the worker that serves this run has no tools for the agent 'reviewer'"
    )


@pytest.mark.long
async def test_a_killed_worker_takes_no_run_and_no_child_along(
    server: RealServer, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    write_tool(tmp_path / "tools", "hangs", "sleep 60", heartbeatSeconds=1)
    front = f"description: Reviews.\nmodel: scripted:child.yaml\ntools: [{tmp_path}/tools]"
    (tmp_path / "reviewer.md").write_text(f"---\n{front}\n---\nReview.\n")
    child: JsonValue = [{"call": [{"hangs": {}}]}, {"say": "{{last.error_code}}"}]
    (tmp_path / "child.yaml").write_text(json.dumps({"steps": child}))
    caller = [{"call": [{"reviewer": {"prompt": "Look."}}]}, {"say": "Done."}]
    (tmp_path / "caller.yaml").write_text(json.dumps({"steps": caller}))
    commands, queue = Surefoot(tmp_path, state_home=server.state_directory.parent), new_queue()
    serve = ("worker", "--address", server.address, "--queue", queue, "--tools", tmp_path / "reviewer.md")
    try:
        worker = commands.start(*serve)
        run = await start(client, queue, model=f"scripted:{tmp_path}/caller.yaml")
        await asyncio.to_thread(worker.until_it_says, '"event": "serving"')
        await until_event(run, "tool_execution_started")
        await until_running(
            client.get_workflow_handle(f"{run.id}/1-1"),
            lambda one: one.activity_type == "hangs" and one.started_at is not None,
        )
        os.kill(worker.process_id, signal.SIGKILL)
        commands.start(*serve)
        finished = await finish(run)
    finally:
        commands.clean_up()

    answer: JsonValue = {"status": "completed", "answer": "TOOL_LOST", "reason": None, "turns": 2}
    assert finished.outcomes == [ToolSuccess(tool="reviewer", result=answer)]
