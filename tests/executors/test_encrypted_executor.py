"""An executor in Go that has the keys of the runs which call it."""

import hashlib
import os
from pathlib import Path

import pytest
from temporalio.client import Client

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.conftest import RealServer
from tests.executors.go_executor import ExecutorProcess, example_tool
from tests.workers.encryption.history_keys import keys_in
from tests.workers.encryption.rings import BOTH, having, written
from tests.workflows.agents import Replies, calls, finish, says, serving, start

pytestmark = pytest.mark.long

SUM = hashlib.sha256(b"one").hexdigest()


async def test_results_heartbeats_and_failures_pass_encrypted(
    checksum_program: Path, server: RealServer, client: Client, tmp_path: Path
) -> None:
    (tmp_path / "one").write_text("one")
    os.mkfifo(tmp_path / "pipe")
    keys = {"SUREFOOT_ENCRYPTION_KEYS": f"{written('old', b'o')}, {written('new', b'n')}"}
    ours = having(client, BOTH)
    model = Replies(
        [
            calls(("checksum", {"paths": ["one"]})),
            calls(("checksum", {"paths": ["one", "pipe"]})),
            says("Done."),
        ]
    )
    with ExecutorProcess(checksum_program, server, tmp_path, variables=keys) as executor:
        tool = example_tool(queue=executor.queue, timeoutSeconds=2)
        async with serving(ours, model, [tool]) as queue:
            run = await start(ours, queue)
            finished = await finish(run)
    summed, stopped = finished.outcomes
    assert isinstance(summed, ToolSuccess)
    assert SUM in summed.model_dump_json()
    assert isinstance(stopped, ToolFailure)
    assert (stopped.error_code, stopped.stdout) == ("TOOL_TIMEOUT", f"{SUM}  one\n")
    assert set(await keys_in(run)) == {"old", "new"}
    (failed,) = [
        event.activity_task_failed_event_attributes.failure
        for event in (await run.fetch_history()).events
        if event.HasField("activity_task_failed_event_attributes")
    ]
    assert (failed.message, failed.application_failure_info.type) == ("Encoded failure", "TOOL_TIMEOUT")
