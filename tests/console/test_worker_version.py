import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.workers.real_workers import new_queue
from tests.workers.versions import make_current

SCRIPT = "steps: [{call: [{bash: {command: echo 1}}]}, {say: 'By a version.'}]\n"


@pytest.mark.long
async def test_a_worker_of_a_version_says_when_it_gets_no_runs_and_serves_them_once_it_is_current(
    surefoot: Surefoot, server: RealServer, client: Client, tmp_path: Path
) -> None:
    queue = new_queue()
    place = ("--address", server.address, "--queue", queue)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    worker = surefoot.start(
        *("worker", *place, "--tools", "builtin"),
        environment={"SUREFOOT_DEPLOYMENT": queue, "SUREFOOT_BUILD_ID": "1"},
    )

    advised = f"set-current-version --deployment-name {queue} --build-id 1"
    await asyncio.to_thread(worker.until_it_says, advised)
    await make_current(client, queue, "1")
    model = f"scripted:{tmp_path}/script.yaml"
    ended = await asyncio.to_thread(surefoot, "run", "Go.", *place, "--model", model, "-o", "jsonl")

    assert ended.event("run_finished")["answer"] == "By a version."
