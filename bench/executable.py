"""What Surefoot adds to a tool's process: the same calls bare, grouped and supervised, in turns."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from statistics import median

from activities.tools.capture import Captures, StreamCapture
from activities.tools.child_process import Leash
from activities.tools.command import Command
from activities.tools.executable import Exited, execute
from activities.tools.process_group import ProcessGroup
from activities.tools.supervised import Supervised
from bench.figure import Figure

TOOL = Path("/bin/true")
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""Of a tool that is measured."""


async def executable(calls: int, tool: Path = TOOL) -> list[Figure]:
    """Call a tool in all three ways so many times; the figures are medians."""
    bare: list[float] = []
    grouped: list[float] = []
    supervised: list[float] = []
    for _ in range(calls):
        bare.append(await spawn(tool))
        grouped.append(await _leashed(tool, ProcessGroup))
        supervised.append(await _leashed(tool, Supervised))
    added = [whole - only for whole, only in zip(supervised, bare, strict=True)]
    return [
        Figure("executable tool: bare process", "ms", 1000 * median(bare)),
        Figure("executable tool: in a process group", "ms", 1000 * median(grouped)),
        Figure("executable tool: supervised, as it is run", "ms", 1000 * median(supervised)),
        Figure("executable tool: added to the bare process", "ms", 1000 * median(added)),
    ]


async def spawn(tool: Path) -> float:
    """Start and wait for a process that nothing holds; gives the seconds that it took."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        tool,
        "{}",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=ENVIRONMENT,
        cwd="/",
    )
    await process.communicate()
    return time.perf_counter() - began


async def _leashed(tool: Path, leash: Callable[[Command], Leash]) -> float:
    began = time.perf_counter()
    ending = await execute(
        tool,
        "{}",
        timeout=timedelta(seconds=60),
        environment=ENVIRONMENT,
        directory=Path("/"),
        captures=Captures(StreamCapture(10_240), StreamCapture(4_096)),
        leash=leash,
    )
    took = time.perf_counter() - began
    assert isinstance(ending, Exited), ending
    return took
