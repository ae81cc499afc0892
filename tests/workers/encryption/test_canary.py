"""What a disk holds of a run that was told secrets everywhere."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from surefoot.run import ChainLimits, RunInput, RunResult, SendMessage
from tests.activities.tools.disk_tools import PYTHON, found, write_tool
from tests.workers.encryption.secrets_told import Told, all_that_is_kept
from tests.workers.real_workers import new_queue, until_running
from tests.workflows.agents import Replies, calls, says
from workers.embedded_server import embedded_server
from workers.encryption.keys import new_key
from workers.schedule_times import Every
from workers.schedules import NewSchedule, create_schedule
from workers.sending import send_message
from workers.server_ports import free_port
from workers.settings import Settings
from workers.snapshot import RunningActivity
from workers.starting import start_run
from workers.worker import build_worker

IN_THE_STORE = {"artifact", "prompt"}
PLACES = IN_THE_STORE | {
    "system",
    "params",
    "heartbeat",
    "output",
    "error",
    "message",
    "answer",
    "schedule",
}

_LARGE = "x" * 300 * 1024
"""A run that continues as new does not carry this: its conversation goes into the store."""
_TOLD = "import json, os, pathlib, sys, time\ntold = json.loads(pathlib.Path('told.json').read_text())\n"
_TELL = f"""{PYTHON}{_TOLD}
print(told["heartbeat"], file=sys.stderr, flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.02)
pathlib.Path(os.environ["SUREFOOT_ARTIFACTS"], "all.txt").write_text(told["artifact"])
print(json.dumps({{"output": told["output"], "all_artifact": "all.txt"}}))
"""
_FAIL = f"{PYTHON}{_TOLD}sys.exit(told['error'])\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "places", "in_the_store"),
    [
        pytest.param(new_key(date(2031, 5, 4)), set[str](), set[str](), id="nothing, with a key"),
        pytest.param(None, PLACES, IN_THE_STORE, id="every one, without a key"),
    ],
)
async def test_what_a_disk_holds_of_the_secrets_that_a_run_was_told(
    tmp_path: Path, keys: str | None, places: set[str], in_the_store: set[str]
) -> None:
    settings = Settings(state_directory=tmp_path / "state", encryption_keys=keys)
    told, state = Told(), settings.state_directory
    async with embedded_server(settings, port=free_port(), ui_port=free_port()) as server:
        client = server.client
        async with _working(client, told, settings, tmp_path) as queue:
            run = await start_run(client, _asked(told), workflow_id="told", queue=queue)
            await until_running(run, _beats)
            await send_message(client, run.id, SendMessage(text=told.at("message")))
            kept = told.found_in(all_that_is_kept(state))
            (tmp_path / "go").touch()
            result = RunResult.model_validate(await run.result())
        await create_schedule(client, _scheduled(told))
        kept |= told.found_in(all_that_is_kept(state))
    kept |= told.found_in(all_that_is_kept(state))
    assert (result.answer, {place for place, _ in told.marks}) == (told.at("answer"), PLACES)
    assert kept == {secret for secret in told.marks if secret[0] in places}
    stored = told.found_in(all_that_is_kept(state / "store"))
    assert {place for place, _ in stored} >= in_the_store


def _asked(told: Told) -> RunInput:
    return RunInput(
        prompt=f"{told.at('prompt')}\n{_LARGE}",
        system=told.at("system"),
        model="replies",
        chain=ChainLimits(max_events=1),
    )


def _scheduled(told: Told) -> NewSchedule:
    run = RunInput(prompt=told.at("schedule"), model="replies")
    rarely = Every(timedelta(days=365))
    return NewSchedule("rarely", rarely, run, "nobody", "skip", catch_up=timedelta(minutes=10))


def _beats(activity: RunningActivity) -> bool:
    return activity.captured is not None and "BEGIN PRIVATE KEY" in activity.captured.stderr


@asynccontextmanager
async def _working(client: Client, told: Told, settings: Settings, directory: Path) -> AsyncGenerator[str]:
    """Serve a model and tools that tell secrets; gives the queue."""
    to_tools = ("heartbeat", "output", "error", "artifact")
    (directory / "told.json").write_text(json.dumps({place: told.at(place) for place in to_tools}))
    write_tool(directory / "tools", "tell", _TELL)
    write_tool(directory / "tools", "fail", _FAIL)
    model = Replies(
        [calls(("tell", {"secrets": told.at("params")})), calls(("fail", {})), says(told.at("answer"))]
    )
    queue = new_queue()
    worker = build_worker(
        client,
        queue=queue,
        tools=found(directory / "tools"),
        directory=directory,
        environment={"PATH": os.environ["PATH"]},
        open_model=lambda _turn, _attempt: model,
        settings=settings,
    )
    async with worker:
        yield queue
