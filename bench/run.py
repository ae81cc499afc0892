"""Surefoot beside a hand-written loop on one tuned server: history, latency, processor, memory, replay.

python -m bench.run [--only history,latency,...] [--json FILE] [--rounds 5] [--tiny]
"""

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from bench.arena import arena
from bench.endurance import endurance_figures, endure, growth_figures
from bench.executable import executable
from bench.figure import Figure, as_json, table
from bench.fleet import fleet
from bench.history import history_figures, run_alone
from bench.latency import latency
from bench.replaying import replays
from bench.restart import restart
from bench.sandbox import sandbox
from bench.serving import Dispatch
from bench.sharing import sharing
from bench.workload import Workload

MEASURES = (
    "latency",
    "fleet",
    "history",
    "sharing",
    "executable",
    "sandbox",
    "growth",
    "restart",
    "endurance",
)


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    rounds: int = 5
    turns: int = 200
    """Of a run whose latency is measured: as many as of one whose history is weighed."""
    agents: int = 50
    history_turns: int = 200
    result_bytes: int = 2048
    workers: int = 4
    processes: int = 50
    long_turns: int = 2_000
    endurance_turns: int = 10_000
    """With `result_bytes` each, a conversation of 20 MB."""
    window_tokens: int = 64_000


TINY = Sizes(
    rounds=1, turns=3, agents=2, history_turns=4, workers=2, processes=2, long_turns=20, endurance_turns=20
)
"""Enough to see that everything is measured."""


async def measured(measure: str, sizes: Sizes, directory: Path) -> list[Figure]:
    """Take one of the `MEASURES`, on a server of its own."""
    turns, rounds = sizes.turns, sizes.rounds
    match measure:
        case "latency":
            async with arena(directory) as made:
                alone = await latency(made, Workload(turns=turns), rounds=rounds)
                ten = Workload(turns=max(turns // 3, 3), calls=10)
                return [*alone, *await latency(made, ten, rounds=rounds)]
        case "fleet":
            async with arena(directory) as made:
                return await fleet(made, Workload(turns=5), agents=sizes.agents, rounds=rounds)
        case "history":
            async with arena(directory) as made:
                workload = Workload(turns=sizes.history_turns, result_bytes=sizes.result_bytes)
                costs = await run_alone(made, workload)
                ours, theirs = (cost.workflow_id for cost in costs)
                again = await replays(made.client, ours=ours, theirs=theirs, turns=sizes.history_turns)
                return [*history_figures(workload, costs), *again]
        case "sharing":
            return [
                figure
                for dispatch in get_args(Dispatch)
                for figure in await _shared(sizes, directory.with_name(f"sharing-{dispatch}"), dispatch)
            ]
        case "growth":
            async with arena(directory, sides=("surefoot",)) as made:
                short = Workload(sizes.history_turns, result_bytes=sizes.result_bytes)
                long = Workload(sizes.long_turns, result_bytes=sizes.result_bytes)
                few = await endure(made, short)
                return growth_figures(short, few.weight, long, await endure(made, long))
        case "restart":
            return await restart(directory, Workload(sizes.long_turns, result_bytes=sizes.result_bytes))
        case "endurance":
            async with arena(directory, sides=("surefoot",)) as made:
                endless = Workload(
                    sizes.endurance_turns, result_bytes=sizes.result_bytes, window_tokens=sizes.window_tokens
                )
                return endurance_figures(endless, await endure(made, endless))
        case "executable":
            return await executable(sizes.processes)
        case "sandbox":
            return await sandbox(sizes.processes, directory)
        case _:
            raise ValueError(f"there is no measure '{measure}'; there are: {', '.join(MEASURES)}")


async def _shared(sizes: Sizes, directory: Path, dispatch: Dispatch) -> list[Figure]:
    async with arena(directory, workers=sizes.workers, dispatch=dispatch) as made:
        workload = Workload(turns=sizes.turns, result_bytes=sizes.result_bytes)
        return await sharing(made, workload, dispatch=dispatch, agents=2 * sizes.workers, rounds=1)


async def bench(measures: list[str], sizes: Sizes) -> AsyncGenerator[Figure]:
    """Take the measures one after the other; each figure comes when its measure is done."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        for measure in measures:
            for figure in await measured(measure, sizes, Path(directory) / measure):
                yield figure


def report(figures: list[Figure], sizes: Sizes) -> dict[str, object]:
    """Give what belongs beside the figures: they mean little without the machine."""
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": {"cores": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()},
        "sizes": vars(sizes),
        "figures": as_json(figures),
    }


async def _bench(measures: list[str], sizes: Sizes) -> list[Figure]:
    figures: list[Figure] = []
    async with aclosing(bench(measures, sizes)) as found:
        async for figure in found:
            figures.append(figure)
            print(table([figure]).splitlines()[1], flush=True)
    return figures


def main() -> int:
    """Print the table and write the JSON; 1 when a figure is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", default=",".join(MEASURES), help="measures, by comma")
    parser.add_argument("--json", type=Path, help="where the figures go as JSON")
    parser.add_argument("--rounds", type=int, default=Sizes().rounds, help="of both sides, in turns")
    parser.add_argument("--tiny", action="store_true", help="only to see that everything is measured")
    options = parser.parse_args()
    sizes = TINY if options.tiny else Sizes(rounds=options.rounds)
    print(table([]), flush=True)
    figures = asyncio.run(_bench(options.only.split(","), sizes))
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report(figures, sizes), indent=1))
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    # A short process that used the SDK can crash in its threads while the interpreter shuts down.
    exit_code = main()
    sys.stdout.flush()
    os._exit(exit_code)
