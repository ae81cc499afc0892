import json
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.console.tools_on_disk import write_tool

pytestmark = pytest.mark.long


def test_a_run_and_its_tool_are_served_by_two_workers_that_share_nothing(
    surefoot: Surefoot, server: RealServer, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    agents, gpu = f"agents-{tmp_path.name}", f"gpu-{tmp_path.name}"
    write_tool(here, "where", executorQueue=gpu).unlink()
    write_tool(there, "where", 'printf \'"%s"\' "$PWD"')
    (tmp_path / "script.yaml").write_text("steps: [{call: [{where: {}}]}, {say: '{{last.result}}'}]\n")
    place = ("--address", server.address)
    worker = surefoot.start("worker", *place, "--queue", agents, "--tools", here)
    executor = surefoot.start("worker", *place, "--queue", gpu, "--tools", there, "--workdir", there)
    for process in (worker, executor):
        process.until_it_says('"event": "serving"')

    model = f"scripted:{tmp_path}/script.yaml"
    ended = surefoot("run", "Go.", *place, "--queue", agents, "--model", model, "-o", "jsonl")

    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, str(there))
    ran_by = ended.event("tool_execution_started")["executor"]
    assert str(executor.process_id) in json.dumps(ran_by)
    assert str(worker.process_id) not in json.dumps(ran_by)
