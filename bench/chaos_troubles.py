"""Makes the planned trouble, each at its time, and counts what was done."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.chaos_plan import CutNetwork, KillServer, KillWorker, Trouble
from bench.chaos_server import MortalServer
from bench.chaos_workers import MortalWorker

CHECK_SECONDS = 0.05


@dataclass
class Troubles:
    """What happens to one server and its workers."""

    server: MortalServer
    workers: Sequence[MortalWorker]
    dice: random.Random
    done: Counter[type[Trouble]] = field(default_factory=Counter[type[Trouble]])

    async def make(self, troubles: Sequence[Trouble], *, begin: float) -> None:
        """Make all of them, their times counted from `begin` on the loop's clock; returns after the last."""
        async with asyncio.TaskGroup() as group:
            for trouble in troubles:
                group.create_task(self._make(trouble, begin))

    async def _make(self, trouble: Trouble, begin: float) -> None:
        await asyncio.sleep(begin + trouble.at - asyncio.get_running_loop().time())
        match trouble:
            case KillWorker(served_seconds=seconds):
                (await self._one_that_served(seconds)).kill()
            case KillServer(down_seconds=seconds):
                await self.server.die(seconds)
            case CutNetwork(seconds=seconds, kind=kind, workers=numbers):
                await asyncio.gather(*(self.workers[number].relay.cut(seconds, kind) for number in numbers))
        self.done[type(trouble)] += 1

    async def _one_that_served(self, seconds: float) -> MortalWorker:
        while not (found := [worker for worker in self.workers if _served(worker, seconds)]):  # noqa: ASYNC110
            await asyncio.sleep(CHECK_SECONDS)
        return self.dice.choice(found)


def _served(worker: MortalWorker, seconds: float) -> bool:
    since = worker.serves_since
    return since is not None and asyncio.get_running_loop().time() - since >= seconds
