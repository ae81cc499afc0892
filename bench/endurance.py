"""Runs that go on for long: what they leave on the server, and what their worker holds meanwhile."""

import asyncio
import time
from dataclasses import dataclass

from bench.arena import Arena
from bench.figure import Figure
from bench.history import MEBIBYTE
from bench.weighing import Weight, weigh
from bench.workload import Workload

GROWTH = 1.05
"""How much more a turn of a long run may leave in the history than one of a short run."""

_FLAT = 1.2
_POINTS = 10
_CHECK_SECONDS = 0.5


@dataclass(frozen=True)
class Endured:
    """One long run."""

    weight: Weight
    seconds: float
    peaks: tuple[int, ...]
    """The most memory that the worker held, in bytes, for each tenth of the turns."""


async def endure(arena: Arena, workload: Workload) -> Endured:
    """Run the workload on Surefoot's side and watch its worker."""
    worker = arena.worker("surefoot")
    began = time.monotonic()
    run = await arena.start("surefoot", workload)
    ending = asyncio.create_task(run.result())
    peaks: list[int] = []
    for point in range(1, _POINTS + 1):
        worker.forget_peak()
        while not ending.done() and worker.turns(since=began) < workload.turns * point // _POINTS:
            await asyncio.wait([ending], timeout=_CHECK_SECONDS)
        peaks.append(worker.peak_bytes())
    await ending
    seconds = time.monotonic() - began
    return Endured(await weigh(arena.client, run.id), seconds, tuple(peaks))


def growth_figures(short: Workload, short_weight: Weight, long: Workload, endured: Endured) -> list[Figure]:
    """Compare what a turn leaves in a long run and in a short one."""
    few, many = short_weight.history_bytes / short.turns, endured.weight.history_bytes / long.turns
    return [
        Figure(f"history of {long.turns:,} turns", "bytes a turn", many),
        Figure(f"a turn of {long.turns:,} to one of {short.turns:,}", "times", many / few, at_most=GROWTH),
        *_course(long, endured),
    ]


def endurance_figures(workload: Workload, endured: Endured) -> list[Figure]:
    """Tell how a run went whose conversation is kept within its model's window."""
    grown = endured.peaks[-1] / endured.peaks[1]
    return [
        *_course(workload, endured),
        Figure(f"{workload.turns:,} turns: memory, last tenth to second", "times", grown, at_most=_FLAT),
    ]


def _course(workload: Workload, endured: Endured) -> list[Figure]:
    of = f"{workload.turns:,} turns of {workload.result_bytes:,} bytes"
    return [
        Figure(f"{of}: completed", "", float(endured.weight.status == "completed")),
        Figure(f"{of}: runs in the chain", "", endured.weight.runs),
        Figure(f"{of}: all histories together", "MiB", endured.weight.history_bytes / MEBIBYTE),
        Figure(f"{of}: milliseconds", "a turn", 1000 * endured.seconds / workload.turns),
        *(
            Figure(f"{of}: memory up to turn {workload.turns * n // _POINTS:,}", "MiB", peak / MEBIBYTE)
            for n, peak in enumerate(endured.peaks, 1)
        ),
    ]
