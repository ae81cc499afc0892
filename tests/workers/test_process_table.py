import os
import subprocess
from collections.abc import Generator

import pytest

from workers.process_table import command_line, command_lines, command_lines_from_ps


@pytest.fixture
def process() -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["cat", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as running:
        assert running.stdin
        assert running.stdout
        running.stdin.write(b"x")
        # It has become `cat` for certain once it answers, and not always before.
        running.stdout.read(1)
        yield running
        running.kill()


def test_a_running_process_is_found_with_its_arguments(process: subprocess.Popen[bytes]) -> None:
    assert command_line(process.pid) == "cat -"
    assert dict(command_lines())[process.pid] == "cat -"


def test_the_table_of_ps_says_the_same(process: subprocess.Popen[bytes]) -> None:
    assert dict(command_lines_from_ps())[process.pid] == "cat -"


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
