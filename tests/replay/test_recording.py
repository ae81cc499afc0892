"""What is written of a run, and what is not."""

import gzip
import os
import re
import socket
from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHistory

from surefoot.testing.replay import read_history, replays
from tests.replay.history_file import IDENTITY, TellsOfItsMachineError, file_of, recorded, write
from tests.replay.recording import record


@pytest.fixture
def crashed() -> WorkflowHistory:
    """The history of a run whose tool crashed."""
    return read_history(file_of("tool-crashed"))


def test_identities_and_stack_traces_are_not_written(crashed: WorkflowHistory, tmp_path: Path) -> None:
    (failed,) = [event for event in crashed.events if event.HasField("activity_task_failed_event_attributes")]
    attributes = failed.activity_task_failed_event_attributes
    attributes.identity = f"{os.getpid()}@{socket.gethostname()}"
    attributes.failure.stack_trace = f'File "{Path.cwd()}/tool.py", line 1'

    write(crashed, tmp_path / "tool-crashed.json.gz")

    written = read_history(tmp_path / "tool-crashed.json.gz").events[failed.event_id - 1]
    told = written.activity_task_failed_event_attributes
    assert (told.identity, told.failure.stack_trace) == (IDENTITY, "")
    assert told.failure.message == attributes.failure.message


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(f"{Path.cwd()}/tools", id="where the code is"),
        pytest.param(f"{Path.home()}/.config", id="a home"),
        pytest.param(f"7@{socket.gethostname()}", id="a host"),
        pytest.param("/srv/scenario", id="where the scenario played"),
    ],
)
def test_a_history_that_names_its_machine_is_refused(
    crashed: WorkflowHistory, tmp_path: Path, said: str
) -> None:
    attributes = crashed.events[0].workflow_execution_started_event_attributes
    attributes.input.payloads.append(Payload(data=said.encode()))

    with pytest.raises(TellsOfItsMachineError):
        write(crashed, tmp_path / "one.json.gz", machine=(Path("/srv/scenario"),))

    assert not (tmp_path / "one.json.gz").exists()


def test_no_recorded_history_names_a_process_or_a_line_of_code() -> None:
    for file in recorded():
        text = gzip.decompress(file.read_bytes()).decode()
        assert re.findall(r'"identity": "[^"]*@[^"]*"|"stackTrace": "[^"]+"', text) == [], file


@pytest.mark.long
async def test_what_is_recorded_today_replays_today(tmp_path: Path) -> None:
    names = [
        "two-turns",
        "tools-on-disk",
        "tool-lost-with-its-worker",
        "tokens-are-spent",
        "continues-as-new",
    ]

    sizes = [size_bytes async for _, size_bytes in record(names, tmp_path)]

    assert len(sizes) == len(names)
    await replays(tmp_path)
