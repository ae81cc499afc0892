"""Tools of MCP servers on a real worker."""

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError
from temporalio.worker import Worker

from activities.model import Model
from activities.tools.discovery import discover_tools
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.mcp.servers import config, rogue
from tests.activities.tools.tool_run import TAG, tagged, until
from tests.workers.real_workers import new_queue
from tests.workflows.agents import Replies, calls, finish, says, start
from tests.workflows.operators import cancel_call
from workers.settings import Settings
from workers.worker import build_worker


class _Place:
    """A directory with a server's file, and workers for its tools."""

    def __init__(self, client: Client, directory: Path) -> None:
        self.queue = new_queue()
        self.tag = f"mcp-{directory.name}"
        self._client = client
        self._directory = directory
        self._file = config(directory, r=rogue(env={TAG: self.tag}))

    def worker(self, model: Model) -> AbstractAsyncContextManager[Worker]:
        environment = {"PATH": os.environ["PATH"]}
        return build_worker(
            self._client,
            queue=self.queue,
            tools=discover_tools([str(self._file)], environment=environment).served,
            directory=self._directory,
            environment=environment,
            open_model=lambda _turn, _attempt: model,
            settings=Settings(
                state_directory=self._directory, graceful_shutdown_timeout=timedelta(seconds=0.2)
            ),
        )

    async def until_begun(self, *, calls: int = 1) -> None:
        effects = self._directory / "side-effects"
        await until(lambda: effects.exists() and len(effects.read_text().split()) == calls)


@pytest.fixture
def place(client: Client, tmp_path: Path) -> _Place:
    return _Place(client, tmp_path)


async def test_a_worker_holds_a_server_and_ends_it(client: Client, place: _Place) -> None:
    turn = calls(("r__adds", {"a": 1, "b": 2}), ("r__fails-with-schema", {}), ("r__wrong-sum", {}))
    async with asyncio.timeout(40), place.worker(Replies([turn, says("Done.")])):
        finished = await finish(await start(client, place.queue))
        while_working = len(tagged(place.tag))
    adds, fails, wrong = finished.outcomes
    assert (adds, fails) == (
        ToolSuccess(tool="r__adds", result={"sum": 3}),
        ToolSuccess(tool="r__fails-with-schema", result={"error": "not today"}),
    )
    assert isinstance(wrong, ToolFailure)
    assert (wrong.error_code, while_working > 0, tagged(place.tag)) == ("INVALID_OUTPUT", True, [])


async def test_a_call_that_an_operator_cancels_leaves_the_server_to_the_next(
    client: Client, place: _Place
) -> None:
    model = Replies([calls(("r__hangs", {})), calls(("r__echo", {})), says("Done.")])
    async with asyncio.timeout(40), place.worker(model):
        run = await start(client, place.queue)
        await place.until_begun()
        await cancel_call(run, "1-1")
        finished = await finish(run)
    hung, echoed = finished.outcomes
    assert isinstance(hung, ToolFailure)
    assert (hung.error_code, isinstance(echoed, ToolSuccess)) == ("TOOL_CANCELLED", True)


async def test_a_run_that_is_cancelled_lets_go_of_its_calls(client: Client, place: _Place) -> None:
    async with asyncio.timeout(40), place.worker(Replies([calls(("r__hangs", {}), ("r__echo", {}))])):
        run = await start(client, place.queue)
        await place.until_begun(calls=2)
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as raised:
            await run.result()
    assert (isinstance(raised.value.cause, CancelledError), tagged(place.tag)) == (True, [])


async def test_a_call_of_a_worker_that_is_shut_down_is_interrupted(client: Client, place: _Place) -> None:
    model = Replies([calls(("r__hangs", {})), says("Done.")])
    async with asyncio.timeout(40):
        async with place.worker(model):
            run = await start(client, place.queue)
            await place.until_begun()
        left = tagged(place.tag)
        async with place.worker(model):
            finished = await finish(run)
    (hung,) = finished.outcomes
    assert isinstance(hung, ToolFailure)
    assert (hung.error_code, left) == ("TOOL_INTERRUPTED", [])
