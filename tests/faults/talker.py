"""A tool that prints at a steady pace, and tells in a file what it printed when."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.outcome import ToolFailure
from tests.activities.tools.disk_tools import PYTHON, write_tool

TALKER = "talker"

PAUSE_SECONDS = 0.04
"""25 lines a second to each of both streams: five seconds of them stay below 4 KB."""

_SCRIPT = f"""{PYTHON}
import ctypes, json, os, sys, time
params = json.loads(sys.argv[1])
record = os.open(f"record-{{params['name']}}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in range(params["lines"]):
    for stream in (1, 2):
        os.write(stream, f"line {{number}} of {{params['name']}}\\n".encode())
        os.write(record, f"{{stream}} {{number}} {{time.time()}}\\n".encode())
    time.sleep({PAUSE_SECONDS})
ctypes.string_at(0)
"""


@dataclass(frozen=True)
class Line:
    """One line that the tool had written, to stdout (1) or stderr (2), by this time of the clock."""

    stream: int
    number: int
    written_at: float


def write_talker(directory: Path, **manifest: Any) -> None:  # noqa: ANN401  what a manifest may hold
    """Write the tool: it prints `lines` numbered lines and then reads where no memory is."""
    write_tool(directory, TALKER, _SCRIPT, **manifest)


def record_of(directory: Path, name: str) -> list[Line]:
    """Read what the call of this name had printed; a line that was being recorded at its death is none."""
    file = directory / f"record-{name}"
    if not file.exists():
        return []
    lines = [line.split() for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [Line(int(stream), int(number), float(at)) for stream, number, at in lines]


def reached(failure: ToolFailure, name: str, lines: list[Line]) -> list[Line]:
    """Those of the lines that the failure shows, whole and in their stream."""
    shown = {1: failure.stdout, 2: failure.stderr}
    whole = {stream: set(text.splitlines()) for stream, text in shown.items()}
    return [line for line in lines if f"line {line.number} of {name}" in whole[line.stream]]
