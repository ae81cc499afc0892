"""What each level of the sandbox adds to a call: the same executable at all of them, in turns."""

import asyncio
import time
from datetime import timedelta
from pathlib import Path
from statistics import median

from activities.tools.capture import Captures, StreamCapture
from activities.tools.executable import Exited, execute
from activities.tools.sandbox.level import LEVELS, Level
from activities.tools.sandbox.places import NO_PLACES
from activities.tools.sandbox.probe import levels
from activities.tools.sandbox.sandbox import Sandbox
from activities.tools.sandbox.walls import Walls
from bench.executable import ENVIRONMENT, TOOL, spawn
from bench.figure import Figure
from surefoot.resource_limits import DEFAULT_RESOURCES


async def sandbox(calls: int, directory: Path) -> list[Figure]:
    """Call a tool at each level that this machine has so many times; the figures are medians."""
    await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
    here: list[Level] = [level for level in reversed(LEVELS) if level in levels()]
    bare: list[float] = []
    walled: dict[Level, list[float]] = {level: [] for level in here}
    for _ in range(calls):
        bare.append(await spawn(TOOL))
        for level in here:
            walled[level].append(await _call(level, directory))
    without = median(walled["none"])
    figures = [Figure("sandbox: bare process", "ms", 1000 * median(bare))]
    for level, took in walled.items():
        figures.append(Figure(f"sandbox: at {level}", "ms", 1000 * median(took)))
        if level != "none":
            figures.append(Figure(f"sandbox: {level} to none", "", median(took) / without))
    return figures


async def _call(level: Level, directory: Path) -> float:
    began = time.perf_counter()
    walls = Walls(Sandbox(level), TOOL, directory, ENVIRONMENT, NO_PLACES, DEFAULT_RESOURCES, network=False)
    async with walls.stand() as walled:
        ending = await execute(
            TOOL,
            "{}",
            timeout=timedelta(seconds=60),
            environment=walled.environment,
            directory=directory,
            captures=Captures(StreamCapture(10_240), StreamCapture(4_096)),
            confinement=walled.confinement,
        )
    took = time.perf_counter() - began
    assert isinstance(ending, Exited), ending
    return took
