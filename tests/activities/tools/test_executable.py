import asyncio
import os
import signal
import sys
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from activities.tools.environment import tool_environment
from activities.tools.executable import Ending, Exited, NotStarted, TimedOut
from activities.tools.process_group import ProcessGroup
from activities.tools.supervised import Supervised
from tests.activities.tools.tool_run import ToolRun, is_alive, is_known, open_descriptors, until

PYTHON = f"#!{sys.executable} -IS\n"
SHELL = "#!/bin/sh\n"


@pytest.fixture(params=[Supervised, ProcessGroup])
async def run(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ToolRun]:
    """A run that leaves nothing behind, not even descriptors."""
    before = open_descriptors()
    yield ToolRun(tmp_path, request.param)
    # What an earlier test left to the collector may be closed meanwhile.
    assert open_descriptors() - before == set()


@pytest.mark.parametrize(
    ("script", "ending", "stdout", "stderr"),
    [
        pytest.param(SHELL + 'printf %s "$1"', Exited(0), '{"a": "é"}', "", id="answers with its params"),
        pytest.param(SHELL + "cat; echo end", Exited(0), "end\n", "", id="reads an empty stdin"),
        pytest.param(SHELL + "echo out; echo err >&2; exit 3", Exited(3), "out\n", "err\n", id="fails"),
        pytest.param(SHELL + "exec >&- 2>&-; exit 4", Exited(4), "", "", id="closes its output first"),
        pytest.param(SHELL + "printf 'a\\377b'", Exited(0), "a\ufffdb", "", id="prints invalid UTF-8"),
        pytest.param(SHELL + "echo on; kill -KILL $$", Exited(137), "on\n", "", id="killed by a signal"),
        pytest.param(SHELL + "kill -TERM 0", Exited(143), "", "", id="ends its own group"),
        pytest.param(
            PYTHON + "import ctypes; ctypes.string_at(0)", Exited(139), "", "", id="segmentation fault"
        ),
        pytest.param(
            "#!/usr/bin/env -S cat --\nx",
            Exited(1),
            "#!/usr/bin/env -S cat --\nx",
            'cat: \'{"a": "é"}\': No such file or directory\n',
            id="an interpreter with options",
        ),
    ],
)
async def test_an_executable_ends_with_its_exit_code_and_its_output(
    run: ToolRun, script: str, ending: Ending, stdout: str, stderr: str
) -> None:
    run.environment["LC_ALL"] = "C.UTF-8"
    ended = await run(run.tool(script), '{"a": "é"}')
    assert (ended, run.stdout, run.stderr) == (ending, stdout, stderr)


async def test_a_tool_starts_in_the_directory_of_the_run(run: ToolRun) -> None:
    await run(run.tool(SHELL + "pwd -P"))
    assert run.stdout == f"{run.directory.resolve()}\n"


async def test_a_relative_path_means_the_same_from_every_directory(run: ToolRun) -> None:
    run.tool(SHELL + "echo ok")
    tool = Path(os.path.relpath(run.directory)) / "tool"  # noqa: ASYNC240 - the test has nothing else to do
    run.directory = run.directory / "elsewhere"
    run.directory.mkdir()
    assert await run(tool) == Exited(0)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo $$; echo $$ >&2; exec sleep 300", id="sleeping"),
        pytest.param(
            "trap '' TERM; echo $$; echo $$ >&2; while :; do sleep 300; done", id="ignoring SIGTERM"
        ),
        pytest.param("sleep 300 & echo $$ $!; echo $$ >&2; wait", id="with a child"),
        pytest.param("kill -STOP $$", id="stopped"),
    ],
)
async def test_a_tool_past_its_timeout_is_killed_with_its_children(run: ToolRun, script: str) -> None:
    ending = await run(run.tool(SHELL + script), seconds=0.3)
    assert (ending, run.stderr.split()) == (TimedOut(), run.stdout.split()[:1])
    for pid in run.printed_pids:
        await until(lambda pid=pid: not is_alive(pid))


async def test_what_a_tool_says_when_it_is_told_to_stop_is_captured(run: ToolRun) -> None:
    script = "trap 'echo stopped at item 2; exit 0' TERM; echo item 1; sleep 300 & wait"
    ending = await run(run.tool(SHELL + script), seconds=0.6)
    assert (ending, run.stdout) == (TimedOut(), "item 1\nstopped at item 2\n")


async def test_a_child_that_holds_the_pipe_delays_nothing_and_is_killed(run: ToolRun) -> None:
    assert await run(run.tool(SHELL + "sleep 300 & echo $!")) == Exited(0)
    [child] = run.printed_pids
    await until(lambda: not is_alive(child))


async def test_a_child_that_floods_the_pipe_delays_nothing(run: ToolRun) -> None:
    assert await run(run.tool(SHELL + "yes & exit 5")) == Exited(5)


async def test_a_daemon_in_a_session_of_its_own_delays_nothing(run: ToolRun) -> None:
    daemon = "import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(300)\n"
    tool = run.tool(PYTHON + daemon.replace("os.fork()", "(pid := os.fork())") + "print(pid)\n")
    ending = await run(tool)
    with suppress(ProcessLookupError):
        os.kill(run.printed_pids[0], signal.SIGKILL)
    assert ending == Exited(0)


async def test_everything_printed_before_the_exit_is_read(run: ToolRun) -> None:
    await run(run.tool(PYTHON + "import os\nos.write(1, b'x' * 65536)\nos.write(2, b'y' * 65536)\n"))
    assert (run.captures.stdout.total_bytes, run.captures.stderr.total_bytes) == (65_536, 65_536)


async def test_fifty_megabytes_of_output_take_no_more_than_four(run: ToolRun) -> None:
    tool = run.tool(SHELL + "head -c 50000000 /dev/zero")
    tracemalloc.start()
    ending = await run(tool)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    captured = run.captures.stdout
    assert (ending, captured.total_bytes, captured.whole()) == (Exited(0), 50_000_000, None)
    assert peak < 4 * 1024 * 1024


@pytest.mark.parametrize("size", [102_400, 102_401, 1_048_576])
async def test_params_of_any_size_arrive(run: ToolRun, size: int) -> None:
    script = "import sys\nsys.stdout.write(sys.stdin.read() if sys.argv[1] == '-' else sys.argv[1])"
    params = '"' + "x" * (size - 2) + '"'
    ending = await run(run.tool(PYTHON + script), params)
    assert (ending, run.captures.stdout.whole()) == (Exited(0), params.encode())


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("exit 6", id="never reads it"),
        pytest.param("exec <&-; exit 6", id="closes it"),
        pytest.param("head -c 1000 >/dev/null; exit 6", id="reads the beginning"),
        pytest.param("(sleep 300 <&0 >/dev/null 2>&1) & exit 6", id="leaves it to a child"),
    ],
)
async def test_a_tool_may_ignore_params_on_stdin(run: ToolRun, script: str) -> None:
    assert await run(run.tool(SHELL + script), '"' + "x" * 1_000_000 + '"') == Exited(6)


async def test_a_tool_that_hangs_without_reading_its_stdin_times_out(run: ToolRun) -> None:
    ending = await run(run.tool(SHELL + "sleep 300"), '"' + "x" * 1_000_000 + '"', seconds=0.2)
    assert ending == TimedOut()


async def test_a_tool_sees_nothing_of_the_worker_but_what_it_needs(run: ToolRun) -> None:
    base = {
        "PATH": "/usr/bin:/bin",
        "LC_TIME": "C",
        "OPENAI_API_KEY": "secret",
        "HTTPS_PROXY": "http://me:pw@p",
    }
    run.environment = tool_environment(base, call_id="run-1/2-1", timeout=timedelta(seconds=30))
    await run(run.tool(PYTHON + "print(open('/proc/self/environ').read().replace('\\0', '\\n'))"))
    assert sorted(run.stdout.split()) == [
        "LC_TIME=C",
        "PATH=/usr/bin:/bin",
        "SUREFOOT_CALL_ID=run-1/2-1",
        "SUREFOOT_TIMEOUT_SECONDS=30",
    ]


@pytest.mark.parametrize("cancellations", [1, 3])
async def test_cancelling_kills_the_tool_and_passes_through(run: ToolRun, cancellations: int) -> None:
    tool = run.tool(SHELL + "trap '' TERM; sleep 300 & echo $$ $!; wait; wait; sleep 300")
    task = asyncio.create_task(run(tool))
    await until(lambda: len(run.printed_pids) == 2)
    for _ in range(cancellations):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    for pid in run.printed_pids:
        await until(lambda pid=pid: not is_alive(pid))


async def test_output_can_be_read_while_the_tool_runs(run: ToolRun) -> None:
    task = asyncio.create_task(run(run.tool(SHELL + "echo item 1; read _ < go; echo item 2")))
    os.mkfifo(run.directory / "go")
    await until(lambda: run.stdout == "item 1\n")
    (run.directory / "go").write_text("on\n")
    assert (await task, run.stdout) == (Exited(0), "item 1\nitem 2\n")


@pytest.mark.parametrize(
    ("script", "mode", "exit_code", "reason"),
    [
        pytest.param("#!/bin/sh\n", 0o644, 126, "{tool} is not executable (chmod +x)", id="no x bit"),
        pytest.param(
            "#!/no/such/thing -x\n",
            0o755,
            127,
            "its interpreter '/no/such/thing' was not found",
            id="no such interpreter",
        ),
        pytest.param(
            "#!/bin/sh\r\n",
            0o755,
            127,
            "its interpreter '/bin/sh\\r' was not found",
            id="a carriage return after the interpreter",
        ),
        pytest.param(
            "#!/etc/passwd\n",
            0o755,
            126,
            "its interpreter '/etc/passwd' is not executable",
            id="an interpreter that is no program",
        ),
        pytest.param(
            "echo hello\n",
            0o755,
            126,
            "{tool} is neither a program for this machine nor a script with a #! line",
            id="no interpreter named",
        ),
        pytest.param(
            "",
            0o755,
            126,
            "{tool} is neither a program for this machine nor a script with a #! line",
            id="an empty file",
        ),
    ],
)
async def test_an_executable_that_cannot_be_started_says_why(
    run: ToolRun, script: str, mode: int, exit_code: int, reason: str
) -> None:
    tool = run.tool(script, mode=mode)
    assert await run(tool) == NotStarted(exit_code, reason.format(tool=tool))


async def test_a_missing_executable_says_so(run: ToolRun) -> None:
    tool = run.directory / "tool"
    assert await run(tool) == NotStarted(127, f"there is no file {tool}")


async def test_a_directory_is_no_executable(run: ToolRun) -> None:
    assert await run(run.directory) == NotStarted(126, f"{run.directory} is a directory")


async def test_a_missing_working_directory_says_so(run: ToolRun) -> None:
    tool = run.tool(SHELL)
    run.directory = run.directory / "gone"
    assert await run(tool) == NotStarted(
        126, f"its working directory {run.directory} cannot be entered: No such file or directory"
    )


async def test_no_ending_leaves_a_zombie(run: ToolRun) -> None:
    await run(run.tool(SHELL + "echo $$; exit 1"))
    await run(run.tool(SHELL + "echo $$; sleep 300"), seconds=0.2)
    assert [is_known(pid) for pid in run.printed_pids] == [False, False]


async def test_many_tools_run_side_by_side(tmp_path: Path) -> None:
    runs = [ToolRun(tmp_path) for _ in range(32)]
    os.mkfifo(tmp_path / "go")
    tool = runs[0].tool(SHELL + 'echo "$1"; read _ < go; head -c 100000 /dev/zero; exit "$1"')
    tasks = [asyncio.create_task(each(tool, str(number))) for number, each in enumerate(runs)]
    await until(lambda: all(each.stdout for each in runs))
    # For reading, too: a tool that opens it only after the lines were written finds them still.
    go = os.open(tmp_path / "go", os.O_RDWR)
    os.write(go, b"on\n" * 32)
    endings = await asyncio.gather(*tasks)
    os.close(go)
    assert endings == [Exited(number) for number in range(32)]
