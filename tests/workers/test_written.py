"""What a model has written of its reply, seen from outside on a real server while it writes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import CancelledError

from activities.interface import Written
from activities.providers.opening import open_provider_model
from activities.providers.settings import ProviderSettings
from surefoot.run import RunResult
from tests.activities.openai_server import HELD, Answer, Call, ModelServer, Reply, Stream
from tests.activities.providers.events import chat_events
from tests.activities.providers.wire import chat_completion
from tests.workers.real_workers import until_running, working
from tests.workflows.agents import finish, start

pytestmark = pytest.mark.slow

BEGUN, REST = "Let me see what is there", " to be seen."


def said(text: str, *calls: Call) -> list[bytes]:
    body = chat_completion(Reply(text=text, calls=calls), 1)
    return chat_events(body, len(BEGUN), usage=True)


@asynccontextmanager
async def asked(
    client: Client, directory: Path, server: ModelServer
) -> AsyncGenerator[WorkflowHandle[Any, RunResult]]:
    """A run on a worker of the product, whose model is on this server."""
    (directory / "tools").mkdir(exist_ok=True)
    settings = ProviderSettings(openai_base_url=server.openai_url)
    model = open_provider_model("openai-chat:m", protocol="native", settings=settings)
    async with asyncio.timeout(30), working(client, directory, model) as queue:
        yield await start(client, queue)
    await model.close()


async def until_written(run: WorkflowHandle[Any, Any], written: Written, *, attempt: int = 1) -> None:
    await until_running(run, lambda one: (one.written, one.attempt) == (written, attempt))


async def history_of(run: WorkflowHandle[Any, Any]) -> list[bytes]:
    return [event.SerializeToString() for event in (await run.fetch_history()).events]


async def test_a_reply_is_seen_as_it_grows_and_adds_nothing_to_the_history(
    client: Client, tmp_path: Path
) -> None:
    pieces = said(BEGUN + REST)
    held: Answer = Stream([*pieces[:2], HELD, *pieces[2:]])

    with ModelServer(held) as server:
        async with asked(client, tmp_path, server) as run:
            await until_written(run, Written(text=BEGUN, doing="text", characters=len(BEGUN)))
            while_it_wrote = await history_of(run)
            server.go_on()
            watched = await finish(run)
            history = await history_of(run)
    with ModelServer(Reply(text=BEGUN + REST)) as server:
        async with asked(client, tmp_path, server) as twin:
            await finish(twin)
            plain = await history_of(twin)

    assert watched.result.answer == BEGUN + REST
    assert not any(BEGUN.encode() in event for event in while_it_wrote)
    assert len(history) == len(plain)


async def test_the_tool_is_seen_while_its_arguments_are_written(client: Client, tmp_path: Path) -> None:
    pieces = said("", Call("look", {"at": "x" * 99}))

    with ModelServer(Stream([*pieces[:3], HELD])) as server:
        async with asked(client, tmp_path, server) as run:
            await until_written(run, Written(doing="call", tool="look", characters=len(BEGUN)))
            await run.terminate()


async def test_what_an_attempt_wrote_that_broke_off_is_seen_no_more(client: Client, tmp_path: Path) -> None:
    first, second = said(BEGUN + REST), said("From the start.")
    cut, held = Stream([*first[:2], HELD], cut=True), Stream([HELD, *second])

    with ModelServer(cut) as server:
        async with asked(client, tmp_path, server) as run:
            await until_written(run, Written(text=BEGUN, doing="text", characters=len(BEGUN)))
            server.queue(held)
            server.go_on()
            server.hold_again()
            await until_written(run, Written(), attempt=2)
            server.go_on()
            ended = await finish(run)
            history = await history_of(run)

    assert ended.result.answer == "From the start."
    assert not any(BEGUN.encode() in event for event in history)


async def test_a_run_that_is_cancelled_in_mid_stream_lets_go_of_its_model(
    client: Client, tmp_path: Path
) -> None:
    with ModelServer(Stream([*said(BEGUN + REST)[:2], HELD])) as server:
        async with asked(client, tmp_path, server) as run:
            await until_written(run, Written(text=BEGUN, doing="text", characters=len(BEGUN)))
            await run.cancel()
            with pytest.raises(WorkflowFailureError) as ended:
                await run.result()
        left = await asyncio.to_thread(server.left.wait, 10)

    assert (type(ended.value.cause), left) == (CancelledError, True)
