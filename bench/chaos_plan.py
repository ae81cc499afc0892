"""What is going to happen, and when: all of it follows from a seed."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.chaos_tools import BEHAVIOURS

LONGEST_CUT_SECONDS = 8.0
"""Above the heartbeat timeout of the tools, so that some cuts cost calls and some do not."""

LONGEST_LIFE_SECONDS = 4.0
"""No worker is spared for longer, however much trouble has piled up."""


@dataclass(frozen=True)
class Scale:
    """How much of everything; runs and trouble are spread over `seconds`."""

    runs: int
    calls: int
    worker_kills: int
    server_kills: int
    network_cuts: int
    workers: int
    seconds: float


@dataclass(frozen=True)
class PlannedCall:
    """A call of a tool, which takes about this long."""

    tool: str
    seconds: float


@dataclass(frozen=True)
class PlannedTurn:
    """What the model asks for at once, after having thought."""

    thinking_seconds: float
    calls: tuple[PlannedCall, ...]


@dataclass(frozen=True)
class PlannedRun:
    """A run, its start counted in seconds from the beginning."""

    workflow_id: str
    at: float
    turns: tuple[PlannedTurn, ...]

    def calls(self) -> Mapping[str, PlannedCall]:
        """Give the calls by the id that their tools will be told."""
        return {
            f"{self.workflow_id}/{turn}-{n}": call
            for turn, planned in enumerate(self.turns, 1)
            for n, call in enumerate(planned.calls, 1)
        }


@dataclass(frozen=True)
class KillWorker:
    """SIGKILL for one of the workers that have served for so long, as soon as there is one."""

    at: float
    served_seconds: float


@dataclass(frozen=True)
class KillServer:
    """SIGKILL for the server, and a new one on its database after a while."""

    at: float
    down_seconds: float


@dataclass(frozen=True)
class CutNetwork:
    """No way between some workers and the server for a while: reset and refused, or silently swallowed."""

    at: float
    seconds: float
    kind: Literal["reset", "swallowed"]
    workers: tuple[int, ...]


Trouble = KillWorker | KillServer | CutNetwork


@dataclass(frozen=True)
class Plan:
    """Everything that is going to happen, in order."""

    runs: tuple[PlannedRun, ...]
    troubles: tuple[Trouble, ...]


def make_plan(scale: Scale, *, seed: int, name: str) -> Plan:
    """Give the same plan for the same seed; the ids of its runs begin with `name`."""
    dice = random.Random(seed)
    runs = [
        PlannedRun(f"{name}-{n}", dice.uniform(0, scale.seconds), tuple(_turns(dice, scale.calls)))
        for n in range(scale.runs)
    ]
    troubles = sorted(_troubles(dice, scale), key=lambda trouble: trouble.at)
    return Plan(tuple(sorted(runs, key=lambda run: run.at)), tuple(troubles))


def _turns(dice: random.Random, calls: int) -> Iterator[PlannedTurn]:
    names, weights = list(BEHAVIOURS), [behaviour.weight for behaviour in BEHAVIOURS.values()]
    while calls > 0:
        here = min(calls, dice.randint(1, 3))
        calls -= here
        tools = dice.choices(names, weights, k=here)
        wanted = tuple(PlannedCall(tool, round(dice.uniform(0, 2), 2)) for tool in tools)
        yield PlannedTurn(thinking_seconds=round(dice.uniform(0, 0.5), 2), calls=wanted)


def _troubles(dice: random.Random, scale: Scale) -> Iterator[Trouble]:
    def when() -> float:
        # Not at the very start, when there is nothing yet to disturb.
        return dice.uniform(0.05, 1) * scale.seconds

    for _ in range(scale.worker_kills):
        yield KillWorker(when(), served_seconds=dice.uniform(0.5, LONGEST_LIFE_SECONDS))
    for _ in range(scale.server_kills):
        yield KillServer(when(), down_seconds=dice.uniform(0, 3))
    for n in range(scale.network_cuts):
        everyone = tuple(range(scale.workers))
        cut_off = everyone if dice.random() < 0.5 else (dice.choice(everyone),)
        kind = "reset" if n % 2 else "swallowed"
        yield CutNetwork(when(), dice.uniform(1, LONGEST_CUT_SECONDS), kind, cut_off)
