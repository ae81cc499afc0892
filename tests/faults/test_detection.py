import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle

from surefoot.definition import DEFAULT_HEARTBEAT_SECONDS
from surefoot.events import ToolExecutionFailed
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import RunResult
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.activities.tools.tool_run import until
from tests.conftest import RealServer
from tests.faults.deaths import Place
from tests.workflows.agents import Finished, finish

TIGHT_SECONDS = 3
"""The tightest `heartbeatSeconds` that docs/failures.md recommends."""

SILENT_TOOLS = 6
CROWD = 24
BUSY_PROCESSES = 2 * (os.cpu_count() or 1)
BUSY_SCRIPT = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


@pytest.fixture
def place(tmp_path: Path, server: RealServer, client: Client) -> Generator[Place]:
    place = Place(tmp_path, server, client)
    yield place
    place.clean_up()


@contextmanager
def busy_machine() -> Generator[None]:
    """Have twice as many processes as there are cores want all of a core, at normal priority."""
    hogs = [subprocess.Popen([sys.executable, "-IS", "-c", BUSY_SCRIPT]) for _ in range(BUSY_PROCESSES)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait(timeout=10)


async def seconds_until_noticed(place: Place, *heartbeats: float) -> list[float]:
    """Kill a worker while another one waits; gives when the ledger had the end of each silent call."""
    for seconds in heartbeats:
        script = f"{SHELL}touch begun-{seconds}; exec sleep 45"
        write_tool(place.tools, f"x-{seconds:g}", script, heartbeatSeconds=seconds, timeoutSeconds=60)
    doomed = await place.serving()
    runs = [await place.start_run(str(seconds), f"{{x-{seconds:g}: {{}}}}") for seconds in heartbeats]
    await until(lambda: len(list(place.directory.glob("begun-*"))) == len(heartbeats))
    await place.serving()
    killed_at = time.time()
    doomed.signal(signal.SIGKILL)
    return [_lost_at(await finish(run)) - killed_at for run in runs]


def _lost_at(finished: Finished) -> float:
    (failed,) = [event for event in finished.events if isinstance(event, ToolExecutionFailed)]
    assert failed.outcome.error_code == "TOOL_LOST"
    return failed.time.timestamp()


def write_silent(place: Place, *, seconds: float) -> None:
    """Write a healthy tool that says nothing for so long, and counts as lost after `TIGHT_SECONDS`."""
    script = f"{SHELL}mktemp began-XXXX >/dev/null; sleep {seconds}; echo true"
    write_tool(place.tools, "silent", script, heartbeatSeconds=TIGHT_SECONDS, timeoutSeconds=100)


async def start_silent(place: Place) -> list[WorkflowHandle[Any, RunResult]]:
    return [await place.start_run(f"silent-{number}", "{silent: {}}") for number in range(SILENT_TOOLS)]


async def outcomes_of(runs: list[WorkflowHandle[Any, RunResult]]) -> list[ToolSuccess | ToolFailure]:
    return [outcome for run in runs for outcome in (await finish(run)).outcomes]


@pytest.mark.slow
async def test_a_killed_worker_is_noticed_in_seconds_with_the_tight_setting(place: Place) -> None:
    async with asyncio.timeout(50):
        (noticed,) = await seconds_until_noticed(place, TIGHT_SECONDS)

    # Some 5.5 s; the rest is for a machine that is busy with other tests.
    assert noticed < TIGHT_SECONDS + 9


@pytest.mark.long
async def test_a_killed_worker_is_noticed_within_the_documented_times(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    async with asyncio.timeout(100):
        tight, default = await seconds_until_noticed(place, TIGHT_SECONDS, DEFAULT_HEARTBEAT_SECONDS)

    with capsys.disabled():
        sys.stdout.write(f"worker killed: noticed after {tight:.1f} s (tight), {default:.1f} s (default)\n")
    assert (tight < 7, default < 20) == (True, True)


@pytest.mark.long
async def test_no_healthy_tool_is_lost_on_a_busy_machine(place: Place) -> None:
    async with asyncio.timeout(100):
        write_silent(place, seconds=3 * TIGHT_SECONDS)
        await place.serving()
        with busy_machine():
            outcomes = await outcomes_of(await start_silent(place))

    assert outcomes == [ToolSuccess(tool="silent", result=True)] * SILENT_TOOLS


@pytest.mark.long
async def test_no_healthy_tool_is_lost_while_a_crowd_of_the_largest_answers_is_read(place: Place) -> None:
    (place.directory / "answer").write_text("[" + ",".join(["[]"] * 349_000) + "]")
    script = f"{SHELL}mktemp ready-XXXX >/dev/null; flock -s gate cat answer"
    write_tool(place.tools, "dense", script, timeoutSeconds=100)
    write_silent(place, seconds=5 * TIGHT_SECONDS)

    async with asyncio.timeout(110):
        with (place.directory / "gate").open("w") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            await place.serving()
            crowd = await place.start_run("crowd", ", ".join(["{dense: {}}"] * CROWD))
            await until(lambda: len(list(place.directory.glob("ready-*"))) == CROWD)
            silent = await start_silent(place)
            await until(lambda: len(list(place.directory.glob("began-*"))) == SILENT_TOOLS)
        read, outcomes = await outcomes_of([crowd]), await outcomes_of(silent)

    assert [type(outcome) for outcome in read] == [ToolFailure] * CROWD
    assert outcomes == [ToolSuccess(tool="silent", result=True)] * SILENT_TOOLS
