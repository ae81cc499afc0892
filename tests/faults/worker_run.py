"""Carries out the faults from outside: one run, a worker process for each post, and an operator."""

import asyncio
import json
import os
import secrets
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import (
    PauseActivityRequest,
    ResetActivityRequest,
    UnpauseActivityRequest,
)
from temporalio.client import Client, WorkflowHandle

from surefoot.run import CANCEL_TOOL_CALL_UPDATE, CancelToolCall
from tests.console.command import Command, Surefoot
from tests.console.tools_on_disk import write_tool
from tests.faults.case import EFFECTS
from tests.faults.observation import Observation
from tests.faults.shared_run import observed, write_tools
from tests.faults.survivors import survivors
from tests.faults.worker_cases import NOBODY, POSTS, VICTIM, Deed, Post, WorkerCase
from workers.snapshot import snapshot_of

BEGIN_SECONDS = 60
END_SECONDS = 90
GONE_SECONDS = 3
"""How long what a killed worker leaves may take to be gone once the model was told that the call is lost."""


@dataclass(frozen=True)
class _Place:
    surefoot: Surefoot
    workflow_id: str

    @property
    def elsewhere(self) -> Path:
        """The tools where they run; in `here` the run knows only their manifests."""
        return self.surefoot.directory / "elsewhere"

    @property
    def here(self) -> Path:
        return self.surefoot.directory / "here"


def carry_out(cases: Sequence[WorkerCase], surefoot: Surefoot) -> dict[str, Observation]:
    """Make all calls in one turn and give what was seen of each case by its name."""
    place = _Place(surefoot, f"faults-{secrets.token_hex(4)}")
    _write(place, cases)
    posts = {name: _start_post(place, name, post) for name, post in POSTS.items()}
    for command in posts.values():
        command.until_it_says('"event": "serving"', seconds=BEGIN_SECONDS)
    (surefoot.directory / VICTIM).write_text(str(posts[VICTIM].process_id))
    run = surefoot.start(
        *("run", "Try everything.", "--model", "scripted:script.yaml", "-o", "jsonl"),
        *("--tools", place.here, "--workflow-id", place.workflow_id),
    )
    run.until_printed("tool_execution_scheduled")

    asyncio.run(_interfere(place, cases, posts))
    ended = run.ends(seconds=END_SECONDS)
    left = _left(place.workflow_id)

    assert (ended.exit_code, ended.event("run_finished")["status"]) == (0, "completed"), ended.stderr
    calls = [one.case for one in cases]
    return observed([calls], ended, surefoot.directory / EFFECTS, place.workflow_id, left, first_turn=1)


def _write(place: _Place, cases: Sequence[WorkerCase]) -> None:
    calls = [one.case for one in cases]
    write_tools(place.elsewhere, calls, queue=place.workflow_id)
    write_tools(place.here, [replace(case, program=None) for case in calls], queue=place.workflow_id)
    (place.surefoot.directory / "empty").mkdir()
    write_tool(place.surefoot.directory / "empty", "another")
    steps = [
        {"call": [{case.tool: case.params} for case in calls]},
        {"say": "{{outcomes}}"},
    ]
    (place.surefoot.directory / "script.yaml").write_text(json.dumps({"steps": steps}))


def _start_post(place: _Place, name: str, post: Post) -> Command:
    tools = place.elsewhere if post.has_tools else place.surefoot.directory / "empty"
    return place.surefoot.start(
        *("worker", "--queue", f"{place.workflow_id}-{name}", "--tools", tools),
        *("--workspace", "shared"),
        environment={"SUREFOOT_GRACEFUL_SHUTDOWN_TIMEOUT": str(post.grace_seconds)},
    )


async def _interfere(place: _Place, cases: Sequence[WorkerCase], posts: dict[str, Command]) -> None:
    client = await place.surefoot.client()
    run = client.get_workflow_handle(place.workflow_id)
    await _until_begun(run, cases)
    for number, one in enumerate(cases, 1):
        await _do(one.deed, client, run, f"1-{number}")
    for name, command in posts.items():
        _send(command, POSTS[name])


async def _until_begun(run: WorkflowHandle[Any, Any], cases: Sequence[WorkerCase]) -> None:
    """Wait until the server has heard the first words of every call that an executor can take."""
    awaited = {
        f"1-{number}"
        for number, one in enumerate(cases, 1)
        if one.post != NOBODY and POSTS[one.post].has_tools
    }
    async with asyncio.timeout(BEGIN_SECONDS):
        while awaited:
            snapshot = await snapshot_of(run, served=True)
            awaited -= {
                activity.activity_id
                for activity in snapshot.running
                if activity.captured and "begun" in activity.captured.stdout + activity.captured.stderr
            }
            await asyncio.sleep(0.05)


async def _do(deed: Deed, client: Client, run: WorkflowHandle[Any, Any], tool_exec_id: str) -> None:
    call: dict[str, Any] = {
        "namespace": client.namespace,
        "execution": WorkflowExecution(workflow_id=run.id),
        "id": tool_exec_id,
    }
    match deed:
        case "nothing":
            pass
        case "cancel":
            # The overloads of the SDK's method leave its arguments untyped.
            await run.execute_update(  # pyright: ignore[reportUnknownMemberType]
                CANCEL_TOOL_CALL_UPDATE, CancelToolCall(tool_exec_id=tool_exec_id)
            )
        case "pause" | "pause and unpause":
            await client.workflow_service.pause_activity(PauseActivityRequest(**call))
            if deed == "pause and unpause":
                await client.workflow_service.unpause_activity(UnpauseActivityRequest(**call))
        case "reset":
            await client.workflow_service.reset_activity(ResetActivityRequest(**call))


def _send(command: Command, post: Post) -> None:
    match post.signals:
        case ("KILL",):
            os.kill(command.process_id, signal.SIGKILL)
        case ("TERM", *again):
            command.signal(signal.SIGTERM)
            if again:
                command.until_it_says("Stopping; running calls have")
                command.signal(signal.SIGTERM)
        case _:
            pass


def _left(workflow_id: str) -> dict[str, list[str]]:
    """Look for survivors while all other workers live; a killed one's are given a moment."""
    deadline = time.monotonic() + GONE_SECONDS
    while (found := survivors(workflow_id)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
