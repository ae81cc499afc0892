"""How much a run leaves on the server, turn by turn, and what its worker pays for it."""

from dataclasses import dataclass

from bench.arena import SIDES, Arena
from bench.figure import Figure
from bench.weighing import Weight, weigh
from bench.workload import Workload

MOST_BYTES = 1 / 35
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    weight: Weight
    cpu_seconds: float
    peak_bytes: int
    workflow_id: str


async def run_alone(arena: Arena, workload: Workload) -> list[Cost]:
    """Run the workload once on each side, in the order of `SIDES`, with nothing beside it."""
    costs: list[Cost] = []
    for side in SIDES:
        worker, before = arena.worker(side), arena.cpu_seconds(side)
        worker.forget_peak()
        run = await arena.start(side, workload)
        await run.result()
        spent = arena.cpu_seconds(side) - before
        costs.append(Cost(await weigh(arena.client, run.id), spent, worker.peak_bytes(), run.id))
    return costs


def history_figures(workload: Workload, costs: list[Cost]) -> list[Figure]:
    """Compare what the two runs took."""
    ours, theirs = costs
    turns, of = workload.turns, f"{workload.turns:,} turns of {workload.result_bytes:,} bytes"
    return [
        Figure(
            f"history of {of}",
            "bytes",
            ours.weight.history_bytes,
            theirs.weight.history_bytes,
            # What every event takes by itself outweighs the conversation of a short run.
            at_most=MOST_BYTES if turns >= 200 else None,
        ),
        Figure(
            "history", "bytes a turn", ours.weight.history_bytes / turns, theirs.weight.history_bytes / turns
        ),
        Figure("events", "a turn", ours.weight.events / turns, theirs.weight.events / turns),
        Figure("worker CPU", "ms a turn", 1000 * ours.cpu_seconds / turns, 1000 * theirs.cpu_seconds / turns),
        Figure("peak memory of the worker", "MiB", ours.peak_bytes / MEBIBYTE, theirs.peak_bytes / MEBIBYTE),
    ]
