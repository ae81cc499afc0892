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
_BEFORE_THE_FIRST = timedelta(seconds=0.5)


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
    loop, beats = asyncio.get_running_loop(), list[asyncio.Task[None]]()
    kept = intervals.within(activity.info().heartbeat_timeout)
    # No task before there is something to do: most calls are over by then.
    beginning = loop.call_later(
        min(_BEFORE_THE_FIRST, kept.with_news).total_seconds(),
        lambda: beats.append(loop.create_task(_beat(kept, details))),
    )
    try:
        yield
    finally:
        beginning.cancel()
        for each in beats:
            each.cancel()
            with suppress(asyncio.CancelledError):
                await each


async def _beat(intervals: BeatIntervals, details: Callable[[], BaseModel | None]) -> None:
    clock = asyncio.get_running_loop().time
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
