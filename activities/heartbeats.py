"""Heartbeats from a task of their own, which what is being watched cannot block."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel
from temporalio import activity

# What ends sooner need not beat. It would be one more write for each call and turn, and ten calls that start
# together took a third longer with it.
_BEFORE_THE_FIRST = timedelta(seconds=0.2)


@dataclass(frozen=True)
class BeatIntervals:
    """How often to beat: a heartbeat is a write to the server, and on Temporal Cloud a billed action."""

    with_news: timedelta = timedelta(seconds=0.5)
    idle: timedelta = timedelta(seconds=1)

    def within(self, heartbeat_timeout: timedelta | None) -> "BeatIntervals":
        """Give the intervals at which silence is not taken for death; None = nobody takes it so."""
        if heartbeat_timeout is None:
            return self
        longest = heartbeat_timeout / 3
        return BeatIntervals(min(self.with_news, longest), min(self.idle, longest))


@asynccontextmanager
async def beating(
    intervals: BeatIntervals, details: Callable[[], BaseModel | None] = lambda: None
) -> AsyncGenerator[None]:
    """Beat until the block is left: soon after `details` changed, else at the idle pace; a short one never.

    However far apart the intervals are, it beats within the activity's own heartbeat timeout.
    """
    beats = asyncio.create_task(_beat(intervals.within(activity.info().heartbeat_timeout), details))
    try:
        yield
    finally:
        beats.cancel()
        with suppress(asyncio.CancelledError):
            await beats


async def _beat(intervals: BeatIntervals, details: Callable[[], BaseModel | None]) -> None:
    clock = asyncio.get_running_loop().time
    await asyncio.sleep(min(_BEFORE_THE_FIRST, intervals.with_news).total_seconds())
    last, last_at = details(), clock()
    _heartbeat(last)
    while True:
        await asyncio.sleep(intervals.with_news.total_seconds())
        now = details()
        if now != last or clock() - last_at >= intervals.idle.total_seconds():
            last, last_at = now, clock()
            _heartbeat(now)


def _heartbeat(details: BaseModel | None) -> None:
    activity.heartbeat(*() if details is None else (details,))
