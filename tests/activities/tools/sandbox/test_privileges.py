"""What is taken away from every process of a call, walls or none."""

import os
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from activities.tools.command import Command
from activities.tools.executable import Exited, run_command
from activities.tools.sandbox import landlock
from activities.tools.sandbox.confinement import Confinement
from activities.tools.sandbox.level import Level
from tests.activities.tools.tool_run import ToolRun

STATUS = "#!/bin/sh\ngrep -E '^(Cap|NoNewPrivs)' /proc/self/status\n"


@pytest.fixture
def run(tmp_path: Path) -> ToolRun:
    return ToolRun(tmp_path)


async def test_a_tool_has_no_capability_and_gets_none(run: ToolRun) -> None:
    await run(run.tool(STATUS))
    told = dict(line.split(":\t") for line in run.stdout.splitlines())
    gone = {name: told[name].strip("0") for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    assert (gone, told["NoNewPrivs"]) == (dict.fromkeys(gone, ""), "1")


@pytest.mark.parametrize(
    ("inherited", "given"),
    [
        pytest.param(0o000, "0022", id="nobody else writes what it makes"),
        pytest.param(0o077, "0077", id="nobody else reads it where the worker's files are not read either"),
    ],
)
async def test_a_tools_files_are_its_owners(run: ToolRun, inherited: int, given: str) -> None:
    before = os.umask(inherited)
    try:
        executable = run.tool("#!/bin/sh\numask\n", mode=0o755)
        executable.chmod(0o755)
        await run(executable)
    finally:
        os.umask(before)
    assert run.stdout.strip() == given


async def test_a_tool_leaves_no_core(run: ToolRun) -> None:
    ending = await run(run.tool("#!/bin/sh\nulimit -c\n"))
    assert (ending, run.stdout) == (Exited(0), "0\n")


READ_SUPERVISOR = f"""#!{sys.executable} -IS
import os
for name in ("environ", "mem", "maps"):
    try:
        open(f"/proc/{{os.getppid()}}/{{name}}", "rb").read(1)
    except OSError as error:
        print(error.strerror)
    else:
        print(name, "was read")
"""


async def test_a_tool_reads_nothing_of_its_supervisor(run: ToolRun) -> None:
    await run(run.tool(READ_SUPERVISOR))
    assert run.stdout == "Permission denied\n" * 3


END_SUPERVISOR = """#!/bin/sh
kill -0 "$PPID" && echo "It can be signalled."
exit 0
"""


@pytest.mark.skipif(landlock.abi() < 6, reason="this kernel has no Landlock 6")
@pytest.mark.parametrize("level", ["none", "landlock"])
async def test_behind_walls_a_tool_ends_no_supervisor(tmp_path: Path, level: Level) -> None:
    run = ToolRun(tmp_path)
    command = Command(
        [bytes(run.tool(END_SUPERVISOR))],
        environment=run.environment,
        directory=tmp_path,
        confinement=Confinement(level, read=("/",)),
    )
    await run_command(tmp_path / "tool", command, timeout=timedelta(seconds=20), captures=run.captures)
    assert run.stdout == ("It can be signalled.\n" if level == "none" else "")
