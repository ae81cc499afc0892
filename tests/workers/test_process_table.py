import os
import subprocess
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from workers.process_table import command_line, command_lines, command_lines_from_ps
from workers.waiting import until


@pytest.fixture
async def process() -> AsyncGenerator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as running:
        await until(lambda: command_line(running.pid), within=timedelta(seconds=5))
        yield running
        running.kill()


def test_a_running_process_is_found_with_its_arguments(process: subprocess.Popen[bytes]) -> None:
    assert command_line(process.pid) == "sleep 600"
    assert dict(command_lines())[process.pid] == "sleep 600"


def test_the_table_of_ps_says_the_same(process: subprocess.Popen[bytes]) -> None:
    assert dict(command_lines_from_ps())[process.pid] == "sleep 600"


def test_a_process_that_ended_is_none_even_before_it_is_waited_for(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert command_line(process.pid) is None
    assert process.pid not in dict(command_lines())
    assert process.pid not in dict(command_lines_from_ps())


def test_a_process_that_was_never_there_is_none(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()

    assert command_line(process.pid) is None
