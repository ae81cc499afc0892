"""Many agents at once on one worker."""

import asyncio
import time
from statistics import median

from bench.arena import SIDES, Arena
from bench.figure import Figure
from bench.serving import Side
from bench.workload import Workload


async def fleet(arena: Arena, workload: Workload, *, agents: int, rounds: int) -> list[Figure]:
    """Run so many agents side by side on both sides in turns: until all have ended, and what it cost."""
    wall: dict[Side, list[float]] = {side: [] for side in SIDES}
    cpu: dict[Side, list[float]] = {side: [] for side in SIDES}
    for _ in range(rounds):
        for side in SIDES:
            before, began = arena.cpu_seconds(side), time.monotonic()
            runs = await asyncio.gather(*(arena.start(side, workload) for _ in range(agents)))
            await asyncio.gather(*(run.result() for run in runs))
            wall[side].append(time.monotonic() - began)
            cpu[side].append(arena.cpu_seconds(side) - before)
    what = f"{agents} agents of {workload.turns} turns"
    ours, theirs = SIDES
    return [
        Figure(f"{what}: wall", "s", median(wall[ours]), median(wall[theirs]), at_most=1.0),
        Figure(f"{what}: worker CPU", "s", median(cpu[ours]), median(cpu[theirs]), at_most=1.0),
    ]
