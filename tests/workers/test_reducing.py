"""Runs whose worker has reducers, on the real server."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from surefoot import ToolFailed, ToolInvoked, reducer
from surefoot.reducer import Reducer, recorded_reducer
from surefoot.run import RunResult
from surefoot.slices import Slice
from surefoot.testing.replay import chain_of, replay_problem
from tests.activities.tools.disk_tools import SHELL, found, write_tool
from tests.workers.real_workers import new_queue
from tests.workflows.agents import Replies, calls, says, start, until_history_holds
from workers.environment import process_environment
from workers.reading_slices import SlicesUnreadableError, ask_for_slices, make_slices
from workers.reducing import Reducing
from workers.settings import Settings
from workers.worker import build_worker

PATIENCE = timedelta(seconds=5)


@reducer("failures", initial={}, on=ToolFailed)
def failures(state: dict[str, int], event: ToolFailed) -> dict[str, int]:
    return {**state, event.tool: state.get(event.tool, 0) + 1}


@reducer("calls", initial=[])
def calls_made(state: list[str], event: ToolInvoked | ToolFailed) -> list[str]:
    return [*state, event.tool_exec_id] if isinstance(event, ToolInvoked) else state


@reducer("calls")
def other_calls(_state: object, event: ToolInvoked | ToolFailed) -> object:
    workflow.start_activity("look", {}, task_queue="elsewhere")
    raise ValueError(event.tool)


def of(*functions: object) -> list[Reducer]:
    return [made for function in functions if (made := recorded_reducer(function))]


@asynccontextmanager
async def working(
    client: Client, directory: Path, reducers: Sequence[Reducer], *, queue: str, model: Replies
) -> AsyncGenerator[None]:
    write_tool(directory / "tools", "look", f"{SHELL}echo true\n")
    write_tool(directory / "tools", "fall", f"{SHELL}exit 3\n")
    async with build_worker(
        client,
        queue=queue,
        tools=found(directory / "tools"),
        directory=directory,
        environment=process_environment(),
        open_model=lambda _turn, _attempt: model,
        settings=Settings(state_directory=directory),
        reducers=reducers,
    ):
        yield


def talk() -> Replies:
    return Replies(
        [calls(("look", {})), calls(("fall", {}), ("nope", {})), calls(("fall", {})), says("Done.")]
    )


WHOLE = {
    "failures": Slice(state={"fall": 2, "nope": 1}, events=3),
    "calls": Slice(state=["1-1", "2-2", "2-1", "3-1"], events=7),
}


@pytest.mark.parametrize(
    "chain", [pytest.param({}, id="in one run"), pytest.param({"max_events": 1}, id="along a chain")]
)
async def test_a_run_keeps_what_its_workers_reducers_make_of_its_calls(
    client: Client, tmp_path: Path, chain: dict[str, Any]
) -> None:
    queue, reducers = new_queue(), of(failures, calls_made)
    async with asyncio.timeout(40):
        async with working(client, tmp_path, reducers, queue=queue, model=talk()):
            run = await start(client, queue, chain=chain)
            result: RunResult = await run.result()
            told = await ask_for_slices(client, run.id, patience=PATIENCE)
        made = await make_slices(client, run.id, reducers, patience=PATIENCE)
        histories = await chain_of(client, run.id)
        changed = [Reducing(of(other_calls))]
        problems = [await replay_problem(history, interceptors=changed) for history in histories]

    assert (result.answer, len(histories) > 1) == ("Done.", bool(chain))
    assert told == WHOLE
    assert made == WHOLE
    assert problems == [None] * len(histories)


async def test_slices_that_nobody_serves_cannot_be_asked_for(client: Client) -> None:
    run = await start(client, new_queue())
    with pytest.raises(SlicesUnreadableError) as unreadable:
        await ask_for_slices(client, run.id, patience=timedelta(seconds=0.5))
    await run.terminate()

    assert str(unreadable.value) == f"no worker answers for the run '{run.id}'"


@reducer("calls")
def endless(_state: object, _event: object) -> object:
    while True:
        pass


@pytest.mark.long
async def test_a_run_whose_reducer_does_not_end_waits_for_one_that_does(
    client: Client, tmp_path: Path
) -> None:
    queue, model = new_queue(), talk()
    async with asyncio.timeout(60):
        async with working(client, tmp_path, of(endless), queue=queue, model=model):
            run = await start(client, queue)
            await until_history_holds(run, EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
        async with working(client, tmp_path, of(failures, calls_made), queue=queue, model=model):
            await run.result()
            told = await ask_for_slices(client, run.id, patience=PATIENCE)

    assert told == WHOLE
