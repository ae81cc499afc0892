"""The runs of agents that a followed run calls, as far as somebody who looks on has to act on them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from temporalio.client import Client
from temporalio.service import RPCError

from surefoot.events import (
    ApprovalEvent,
    Event,
    ToolExecutionStarted,
)
from workers.following import follow
from workers.ledger_reader import RunUnknownError
from workers.snapshot import Snapshot

HearQuestion = Callable[[str, Event], None]
"""Takes an event of the run with this id."""


class ChildRuns:
    """Follows the runs below a run, and tells of what they ask; each is followed once."""

    def __init__(self, client: Client, hear: HearQuestion) -> None:
        self._client = client
        self._hear = hear
        self._following: dict[str, asyncio.Task[None]] = {}

    def hear(self, event: Event) -> None:
        """Take note of an event of a run that is followed."""
        if isinstance(event, ToolExecutionStarted) and event.child_id is not None:
            child = event.child_id
            if child not in self._following:
                self._following[child] = asyncio.create_task(self._follow(child))

    async def close(self) -> None:
        """Follow nothing any more."""
        for task in self._following.values():
            task.cancel()
        await asyncio.gather(*self._following.values(), return_exceptions=True)

    async def _follow(self, child: str) -> None:
        # Whoever follows the run itself hears of a server that is away.
        with suppress(RPCError, RunUnknownError):
            async for seen in follow(self._client, child):
                if isinstance(seen, Snapshot):
                    continue
                self.hear(seen)
                if isinstance(seen, ApprovalEvent) or seen.type in _ENDS:
                    self._hear(child, seen)


_ENDS = ("tool_execution_failed", "run_finished")
