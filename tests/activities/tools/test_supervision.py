import asyncio
import os
import signal
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from activities.tools.capture import Captures, StreamCapture
from activities.tools.child_process import ChildProcess, Leash
from activities.tools.command import Command
from activities.tools.environment import CALL_ID
from activities.tools.executable import Ending, Exited, TimedOut
from activities.tools.process_group import ProcessGroup
from activities.tools.supervised import Supervised
from tests.activities.tools.tool_run import TAG, ToolRun, tagged, until

# 32 and 33: no program can set these through the C library, so what a parent did to them stays.
SIGNALS_OF_THE_C_LIBRARY = 0b11 << 31

REFORKER = "import os\nwhile True:\n    if os.fork():\n        os._exit(0)\n    os.setsid()\n"

BEHAVIOURS = [
    pytest.param("sleep 300 >&- 2>&- &", id="a child"),
    pytest.param("for _ in 1 2 3 4 5 6 7 8 10; do sleep 300 & done", id="ten children"),
    pytest.param("setsid sleep 300 >&- 2>&- &", id="a session of its own"),
    pytest.param("setsid sh -c '(sleep 300 &) &' >&- 2>&-", id="a double fork"),
    pytest.param("setsid sh -c 'sleep 300 & yes &' &", id="a daemon that floods stdout"),
    pytest.param("trap '' TERM; setsid sleep 300 & sleep 300 &", id="ignoring SIGTERM"),
    pytest.param(f"{sys.executable} -ISc '{REFORKER}' &", id="a chain of forks"),
    pytest.param("setsid sh -c 'sleep 300 & kill -STOP $$' & sleep 300 & kill -STOP $!", id="stopped"),
    pytest.param("exec >&- 2>&-; sleep 300 &", id="closing its output"),
    pytest.param("trap 'setsid sleep 300 & sleep 300' TERM; sleep 300 &", id="starting more on SIGTERM"),
]


@dataclass(frozen=True)
class Watched:
    """A run of a tool whose processes can all be noticed: by a variable, and by a pipe that they inherit."""

    run: ToolRun
    tag: str
    pipe: int

    def tool(self, behaviour: str, then: str) -> Path:
        return self.run.tool(f"#!/bin/sh\nexec 9>alive\n{behaviour}\n: > ready\n{then}\n")

    async def ready(self) -> None:
        await until((self.run.directory / "ready").exists)

    def left_nothing(self) -> bool:
        return self._nobody_holds_the_pipe() and not tagged(self.tag)

    def _nobody_holds_the_pipe(self) -> bool:
        # Unlike a search through /proc, this misses nobody, however quickly they follow each other.
        try:
            return os.read(self.pipe, 1) == b""
        except BlockingIOError:
            return False


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Watched]:
    os.mkfifo(tmp_path / "alive")
    pipe = os.open(tmp_path / "alive", os.O_RDONLY | os.O_NONBLOCK)
    run, tag = ToolRun(tmp_path), uuid.uuid4().hex
    run.environment[TAG] = tag
    yield Watched(run, tag, pipe)
    os.close(pipe)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_nothing_survives_a_success(one: Watched, behaviour: str) -> None:
    ending = await one.run(one.tool(behaviour, "exit 0"))
    assert (ending, one.left_nothing()) == (Exited(0), True)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_nothing_survives_a_timeout(one: Watched, behaviour: str) -> None:
    ending = await one.run(one.tool(behaviour, "sleep 300; sleep 300"), seconds=0.3)
    assert (ending, one.left_nothing()) == (TimedOut(), True)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_nothing_survives_a_cancellation(one: Watched, behaviour: str) -> None:
    task = asyncio.create_task(one.run(one.tool(behaviour, "sleep 300; sleep 300")))
    await one.ready()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert one.left_nothing()


@pytest.mark.parametrize(
    "behaviour", [*BEHAVIOURS, pytest.param("kill -STOP $PPID", id="stopping its supervisor")]
)
async def test_nothing_survives_a_worker_that_is_killed(one: Watched, behaviour: str) -> None:
    one.tool(behaviour, "sleep 300; sleep 300")
    module = "tests.activities.tools.lone_worker"
    worker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, str(one.run.directory), one.tag
    )
    try:
        await one.ready()
    finally:
        worker.kill()
        await worker.wait()
    await until(one.left_nothing)


@pytest.mark.parametrize(
    ("attack", "seconds", "expected"),
    [
        pytest.param("kill -KILL $PPID; sleep 300", 20, Exited(137), id="killed"),
        pytest.param("kill -STOP $PPID; sleep 300", 0.3, TimedOut(), id="stopped"),
        pytest.param(
            "trap '' TERM; while :; do kill -STOP $PPID; done", 0.3, TimedOut(), id="stopped again and again"
        ),
        pytest.param("kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID", 20, Exited(0), id="told to end"),
        pytest.param("(sleep 300 & sleep 300) & kill -KILL $PPID", 20, Exited(137), id="orphaning children"),
        pytest.param("setsid sleep 300 & kill -KILL $PPID", 20, Exited(137), id="orphaning a session"),
    ],
)
async def test_a_tool_that_attacks_its_supervisor_leaves_nothing(
    one: Watched, attack: str, seconds: float, expected: Ending
) -> None:
    one.run.environment[CALL_ID] = one.tag
    ending = await one.run(one.tool("sleep 300 &", attack), seconds=seconds)
    await until(one.left_nothing)
    assert ending == expected


@pytest.mark.parametrize("leash", [Supervised, ProcessGroup])
async def test_a_tool_that_ended_before_a_late_deadline_did_not_time_out(
    tmp_path: Path, leash: Callable[[Command], Leash]
) -> None:
    held = leash(Command([b"/bin/sh", b"-c", b"exit 3"], environment={}, directory=tmp_path))
    child = ChildProcess(held, stdin=None, captures=Captures(StreamCapture(10), StreamCapture(10)))
    # The event loop has no turn until the tool has ended.
    os.waitid(os.P_PID, held.process.pid, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 - that is what is tested
    child.stop()
    assert (await child.wait(), child.stopped) == (3, False)


async def test_what_was_printed_before_a_kill_is_kept(one: Watched) -> None:
    script = "printf 'a\\377\\000b'; echo oh >&2; kill -KILL $PPID; sleep 300"
    await one.run(one.tool("", script))
    assert (one.run.stdout, one.run.stderr) == ("a\ufffd\0b", "oh\n")


async def test_a_tool_meets_the_signals_of_a_fresh_process(one: Watched) -> None:
    script = "import signal as s\nprint(s.pthread_sigmask(s.SIG_BLOCK, ()), s.getsignal(s.SIGCHLD))"
    await one.run(one.run.tool(f"#!{sys.executable} -IS\n{script}\n"))
    assert one.run.stdout == "set() 0\n"
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        await one.run(one.run.tool("#!/bin/sh\ngrep -E 'Sig(Blk|Ign)' /proc/self/status\n"))
    finally:
        signal.signal(signal.SIGUSR1, before)
    masks = [int(line.split()[1], 16) for line in one.run.stdout.splitlines()[1:]]
    assert [mask & ~SIGNALS_OF_THE_C_LIBRARY for mask in masks] == [0, 0]


async def test_a_tool_is_given_no_descriptor_but_its_streams(one: Watched) -> None:
    await one.run(
        one.tool("", "for number in 3 4 5 6 7 8; do [ -e /proc/$$/fd/$number ] && echo $number; done")
    )
    assert one.run.stdout == ""


async def test_the_environment_is_passed_on_as_it_is(one: Watched) -> None:
    one.run.environment = {"PYTHONPATH": "/x", "LD_PRELOAD": "", "ODD": "a=b\n\udcff"}
    await one.run(one.run.tool("#!/usr/bin/env -S cat /proc/self/environ\n"), "{}")
    assert one.run.stdout.startswith("PYTHONPATH=/x\0LD_PRELOAD=\0ODD=a=b\n\ufffd\0")
