"""Several workers on one queue: how often a turn comes to one that has not the conversation, and the cost."""

from statistics import median

from bench.arena import Arena
from bench.figure import Figure
from bench.fleet import fleet
from bench.serving import Dispatch
from bench.workload import Workload


async def sharing(
    arena: Arena, workload: Workload, *, dispatch: Dispatch, agents: int, rounds: int
) -> list[Figure]:
    """Run agents on all workers of the arena, and count what Surefoot's workers had to ask for."""
    workers = arena.workers["surefoot"]
    figures = await fleet(arena, workload, agents=agents, rounds=rounds)
    turns = sum(len(worker.notes("turn")) for worker in workers)
    missed = [note.seconds for worker in workers for note in worker.notes("query")]
    of = f"{len(workers)} workers, {dispatch} calls"
    return [
        Figure(f"{of}: conversations asked for, of all turns", "%", 100 * len(missed) / turns),
        Figure(f"{of}: to ask for one", "ms", 1000 * median(missed) if missed else 0.0),
        *(Figure(f"{of}: {each.name}", each.unit, each.surefoot, each.handwritten) for each in figures),
    ]
