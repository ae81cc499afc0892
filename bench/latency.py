"""How long a turn takes beyond its model and its tools, which answer at once."""

from statistics import median

from bench.arena import SIDES, Arena
from bench.figure import Figure, percentile
from bench.serving import Side
from bench.weighing import turn_seconds, workflow_tasks
from bench.workload import Workload

_BEGINNING_TURNS = 25


async def latency(arena: Arena, workload: Workload, *, rounds: int) -> list[Figure]:
    """Run the workload on both sides in turns and compare their turns.

    The beginning of a run stands apart: what grows with a conversation has not grown yet.
    """
    seconds: dict[Side, list[float]] = {side: [] for side in SIDES}
    beginning: dict[Side, list[float]] = {side: [] for side in SIDES}
    cpu: dict[Side, list[float]] = {side: [] for side in SIDES}
    tasks: dict[Side, int] = {}
    for _ in range(rounds):
        for side in SIDES:
            before = arena.cpu_seconds(side)
            run = await arena.start(side, workload)
            await run.result()
            cpu[side].append(arena.cpu_seconds(side) - before)
            history = await run.fetch_history()
            of_turns = turn_seconds(history)
            seconds[side] += of_turns
            beginning[side] += of_turns[:_BEGINNING_TURNS]
            tasks[side] = workflow_tasks(history.events)
    what = f"turn of {workload.calls} call{'' if workload.calls == 1 else 's'}"
    tail = 1.1 if workload.calls == 1 else None
    p50, p95 = ([1000 * percentile(seconds[side], percent) for side in SIDES] for percent in (50, 95))
    begun = [1000 * percentile(beginning[side], 50) for side in SIDES]
    return [
        _compared(f"{what}: p50", "ms", p50, at_most=1.0),
        _compared(f"{what}: p95", "ms", p95, at_most=tail),
        _compared(f"{what}: p50 of the first {_BEGINNING_TURNS} turns", "ms", begun, at_most=None),
        _compared(f"{what}: worker CPU", "ms", [1000 * median(cpu[side]) / workload.turns for side in SIDES]),
        _compared(f"{what}: workflow tasks", "", [tasks[side] / workload.turns for side in SIDES]),
    ]


def _compared(name: str, unit: str, values: list[float], *, at_most: float | None = None) -> Figure:
    ours, theirs = values
    return Figure(name, unit, ours, theirs, at_most)
