"""Whoever looks on costs a run nothing: neither its events nor their bytes are more for it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle

from activities.scripted.model import ScriptedModel
from activities.scripted.script import parse_script
from surefoot.run import RunResult
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.workers.real_workers import working
from tests.workers.watcher import Watcher
from tests.workflows.agents import events_of, start

pytestmark = pytest.mark.slow

SCRIPT = b"""
steps:
  - say: I look at it, and it takes me a while to say so.
    call: [{look: {}}]
    write_seconds: 2
  - call: [{break: {}}]
    repeat: 2
  - say: I have looked.
"""
SLACK_BYTES = 32
"""Times and ids take a byte more or less, in a twin as well; no event is as small, nor a model's text."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_tool(tmp_path / "tools", "look", f"{SHELL}echo so >&2; sleep 1; echo true")
    write_tool(tmp_path / "tools", "break", f"{SHELL}echo why >&2; exit 3")
    return tmp_path


async def kinds_and_bytes(run: WorkflowHandle[Any, RunResult]) -> tuple[list[int], int]:
    """What kinds of events the history of a finished run has, and its size as the server counts it."""
    history = await run.fetch_history()
    described = await run.describe()
    size_bytes = described.raw_description.workflow_execution_info.history_size_bytes
    return [event.event_type for event in history.events], size_bytes


async def test_twenty_watchers_of_a_run_leave_its_history_as_it_is(client: Client, directory: Path) -> None:
    model = ScriptedModel(parse_script(SCRIPT, file="look.yaml"))
    async with asyncio.timeout(120), working(client, directory, model) as queue:
        twins = [await start(client, queue) for _ in range(3)]
        await asyncio.gather(*(twin.result() for twin in twins))
        watched = await start(client, queue)
        watchers = [Watcher(client, watched.id) for _ in range(20)]
        await asyncio.gather(*(watcher.end() for watcher in watchers))
        ledger = list(await events_of(watched))
        plain = [await kinds_and_bytes(twin) for twin in twins]
        kinds, size_bytes = await kinds_and_bytes(watched)

    assert all(watcher.events == ledger for watcher in watchers)
    assert any(one.written for watcher in watchers for look in watcher.snapshots for one in look.running)
    assert [kinds] * len(plain) == [of_twin for of_twin, _ in plain]
    sizes = [of_twin for _, of_twin in plain]
    assert min(sizes) - SLACK_BYTES <= size_bytes <= max(sizes) + SLACK_BYTES
