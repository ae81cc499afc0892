"""What a call may use of its machine, and what it is told when it wanted more."""

import sys
from pathlib import Path

import pytest

from activities.tools.sandbox.level import Level
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import PYTHON
from tests.activities.tools.sandbox.walled import Place, at

MEBIBYTE = 1024 * 1024

# Together above the limit, and each of them below it.
HOARDERS = """import os, time
for _ in range(6):
    if os.fork() == 0:
        held = b"x" * (30 * 1024 * 1024)
        time.sleep(300)
time.sleep(300)
"""


@pytest.fixture
def place(tmp_path: Path, level: Level) -> Place:
    return Place(tmp_path, level)


@at("bwrap", "landlock", "none")
async def test_more_processes_than_a_tool_may_have_end_it(place: Place) -> None:
    outcome = await place.call(
        "for n in 1 2 3 4 5 6 7 8 9; do sleep 300 & done; wait", resources={"processes": 5}
    )
    assert isinstance(outcome, ToolFailure)
    assert (outcome.exit_code, outcome.stderr) == (137, "Killed: more than 5 processes at a time\n")


@at("bwrap", "landlock", "none")
async def test_more_memory_than_a_tool_may_have_ends_it(place: Place) -> None:
    outcome = await place.call(PYTHON + HOARDERS, resources={"memoryBytes": 100 * MEBIBYTE})
    assert isinstance(outcome, ToolFailure)
    assert (outcome.exit_code, outcome.stderr) == (137, "Killed: more than 104,857,600 bytes of memory\n")


@at("bwrap", "landlock", "none")
@pytest.mark.parametrize(
    ("resources", "script", "left"),
    [
        pytest.param(
            {"memoryBytes": 64 * MEBIBYTE},
            "#!{python} -IS\ntry:\n    b'x' * 2**30\nexcept MemoryError:\n    print('\"held\"')\n",
            "held",
            id="memory of one process",
        ),
        pytest.param({"openFiles": 64}, "#!/bin/sh\nulimit -n", 64, id="open files"),
        pytest.param({"fileSizeBytes": MEBIBYTE}, "#!/bin/sh\nulimit -f", 2048, id="blocks of a file"),
        pytest.param({"cpuSeconds": 7}, "#!/bin/sh\nulimit -t", 7, id="seconds of a processor"),
    ],
)
async def test_the_kernel_holds_each_process_to_its_limits(
    place: Place, resources: dict[str, int], script: str, left: str | int
) -> None:
    outcome = await place.call(script.format(python=sys.executable), resources={**resources})
    assert outcome == ToolSuccess(tool="tool", result=left)


@at("none")
async def test_what_has_no_limit_is_not_held_to_one(place: Place) -> None:
    outcome = await place.call('#!/bin/sh\nprintf \'"%s"\' "$(ulimit -f)"', resources={"fileSizeBytes": None})
    assert outcome == ToolSuccess(tool="tool", result="unlimited")
