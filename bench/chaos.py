"""Many runs while workers and server are killed and the network is cut; then an audit of what was told.

python -m bench.chaos [--seed 1] [--runs 300] [--calls 6] [--worker-kills 200] [--server-kills 10]
    [--network-cuts 20] [--workers 4] [--seconds 400] [--keep DIRECTORY]
"""

import argparse
import asyncio
import logging
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from bench.chaos_audit import Figure, audit, read_side_effects
from bench.chaos_evidence import Evidence, collect
from bench.chaos_plan import CutNetwork, KillServer, KillWorker, Plan, Scale, Trouble, make_plan
from bench.chaos_runs import carry_through
from bench.chaos_server import mortal_server
from bench.chaos_survivors import survivors
from bench.chaos_tools import write_tools
from bench.chaos_troubles import Troubles
from bench.chaos_workers import WORK, Departure, mortal_workers
from surefoot.outcome import ToolFailure

PATIENCE = timedelta(minutes=15)
"""How long the runs may take once all trouble is over; what has no end by then counts as lost."""

SHOWN_PROBLEMS = 20
AUDITED_AT_ONCE = 4


@dataclass(frozen=True)
class Report:
    """What came of it all."""

    figures: tuple[Figure, ...]
    outcomes: Counter[str]
    """How often the models were told success, or each error code."""
    seconds: float

    @property
    def bad(self) -> int:
        """How many promises were broken."""
        return sum(len(figure.bad) for figure in self.figures)


async def chaos(scale: Scale, *, seed: int, directory: Path) -> Report:
    """Let it all happen in a directory, which must exist, and audit it."""
    began = time.monotonic()
    name = f"chaos-{secrets.token_hex(4)}"
    plan = make_plan(scale, seed=seed, name=name)
    side_effects = directory / WORK / "side-effects"
    side_effects.parent.mkdir()
    write_tools(directory / "tools", side_effects=side_effects)
    async with mortal_server(directory / "state") as server:
        client = await server.client()
        async with mortal_workers(scale.workers, server_port=server.port, directory=directory) as workers:
            troubles = Troubles(server, workers, random.Random(seed))
            statuses = await _live_through(plan, troubles, client, directory)
            left = await survivors(name)
            evidence = await _evidence(client, statuses)
    departures = [each for worker in workers for each in worker.departures]
    figures = (
        *audit(plan.runs, evidence, read_side_effects(side_effects)),
        Figure("processes that outlived their call", len(left), tuple(str(each) for each in left)),
        *_trouble_figures(plan.troubles, troubles.done, departures),
    )
    return Report(figures, _outcomes(evidence), time.monotonic() - began)


async def _live_through(plan: Plan, troubles: Troubles, client: Client, directory: Path) -> dict[str, str]:
    begin = asyncio.get_running_loop().time()
    runs = {
        run.workflow_id: asyncio.create_task(
            carry_through(client, run, scripts=directory, starts_at=begin + run.at)
        )
        for run in plan.runs
    }
    await troubles.make(plan.troubles, begin=begin)
    done, lost = await asyncio.wait(runs.values(), timeout=PATIENCE.total_seconds())
    for run in lost:
        run.cancel()
    return {
        workflow_id: run.result() if run in done else f"no end within {PATIENCE} of calm"
        for workflow_id, run in runs.items()
    }


async def _evidence(client: Client, statuses: dict[str, str]) -> list[Evidence]:
    gate = asyncio.Semaphore(AUDITED_AT_ONCE)

    async def one(workflow_id: str, status: str) -> Evidence:
        async with gate:
            try:
                return await collect(client, workflow_id, status)
            except RPCError as error:
                return Evidence(workflow_id, f"{status}, and it cannot be asked: {error}")

    return await asyncio.gather(*(one(*run) for run in statuses.items()))


def _trouble_figures(
    planned: Sequence[Trouble], done: Counter[type[Trouble]], departures: Sequence[Departure]
) -> tuple[Figure, ...]:
    named = {KillWorker: "workers killed", KillServer: "server killed", CutNetwork: "network cut"}
    wanted = Counter(type(trouble) for trouble in planned)
    made = [
        Figure(name, done[kind], ("not done",) * (wanted[kind] - done[kind])) for kind, name in named.items()
    ]
    quitters = tuple(f"exit {each.exit_code}: {each.log}" for each in departures if each.served)
    return (*made, Figure("workers that gave up", len(departures), quitters))


def _outcomes(evidence: Sequence[Evidence]) -> Counter[str]:
    outcomes = [told.outcome for each in evidence for told in each.told]
    return Counter(each.error_code if isinstance(each, ToolFailure) else "success" for each in outcomes)


def print_report(report: Report) -> None:
    """Print the table to stdout, and the first of what is bad below it."""
    print(f"{'':40}{'counted':>10}{'bad':>8}")
    for figure in report.figures:
        print(f"{figure.name:40}{figure.counted:>10,}{len(figure.bad):>8,}")
    print(f"\nin {report.seconds:.0f} s; the models were told:")
    for told, times in report.outcomes.most_common():
        print(f"  {told:38}{times:>10,}")
    problems = [f"{figure.name}: {each}" for figure in report.figures for each in figure.bad]
    for problem in problems[:SHOWN_PROBLEMS]:
        print(f"BAD  {problem}")


def main() -> int:
    """Print the figures; 1 when anything is bad."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--calls", type=int, default=6, help="tool calls of each run")
    parser.add_argument("--worker-kills", type=int, default=200)
    parser.add_argument("--server-kills", type=int, default=10)
    parser.add_argument("--network-cuts", type=int, default=20)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=400, help="over which it is all spread")
    parser.add_argument("--keep", type=Path, help="a new directory for logs, database and side effects")
    options = vars(parser.parse_args())
    seed, keep = options.pop("seed"), options.pop("keep")
    # That the server is away at times is no news here.
    logging.getLogger("temporalio").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        if keep is not None:
            keep.mkdir()
        place = (keep or Path(directory)).absolute()
        print_report(report := asyncio.run(chaos(Scale(**options), seed=seed, directory=place)))
    return int(report.bad > 0)


if __name__ == "__main__":
    # A short process that used the SDK can crash in its threads while the interpreter shuts down.
    exit_code = main()
    sys.stdout.flush()
    os._exit(exit_code)
