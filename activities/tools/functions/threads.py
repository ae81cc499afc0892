"""The threads that plain functions run in: none can be stopped, so that only so many may be left behind."""

import asyncio
import contextvars
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any

MAX_LEFT_BEHIND = 32
"""Threads that may go on after their calls have ended, before no further one is started."""


@dataclass(frozen=True)
class Raised:
    """A function raised, be it something that nobody should catch."""

    error: BaseException


@dataclass
class Threads:
    """A thread for each call of a plain function, and how many of them outlived their calls."""

    most_left_behind: int = MAX_LEFT_BEHIND
    left_behind: int = 0

    @property
    def full(self) -> bool:
        """Whether too many threads go on for calls that have ended."""
        return self.left_behind >= self.most_left_behind

    async def run(self, call: Callable[[], Any]) -> Any:  # noqa: ANN401  what a function returns
        """Make a call in a thread and give what it returned, or `Raised`.

        Raises:
            CancelledError: nobody waits any more; the thread goes on.
        """
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            try:
                outcome = context.run(call)
            except BaseException as error:  # noqa: BLE001  a thread that dies would never end its call
                outcome = Raised(error)
            # The loop may be gone: then nobody is left to be told.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._end, ended, outcome)

        # A daemon: the interpreter would wait for any other, even for one that hangs.
        Thread(target=work, daemon=True, name="surefoot-function").start()
        try:
            return await ended
        except asyncio.CancelledError:
            self.left_behind += 1
            raise

    def _end(self, ended: "asyncio.Future[Any]", outcome: object) -> None:
        if ended.cancelled():
            self.left_behind -= 1
        else:
            ended.set_result(outcome)
