"""One invocation of a function in this process, ended by its deadline as far as it lets itself be ended."""

import asyncio
import contextvars
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from activities.tools.functions.printing import HIDE, share_stdout
from activities.tools.functions.steps import watched
from activities.tools.functions.threads import Raised, Threads
from surefoot.current_call import CURRENT_CALL, CurrentCall

_log = logging.getLogger(__name__)

STOP_GRACE_SECONDS = 1.0
"""How long a cancelled function may take to end."""

IN_A_THREAD = "It runs in a thread of its worker, and a thread cannot be stopped: it may still be acting.\n"
IGNORES_ITS_CANCEL = "It was cancelled, did not end, and may still be acting.\n"


@dataclass(frozen=True)
class Returned:
    """A function returned."""

    value: object


class OutOfTime:
    """A function was still running at its deadline."""


class Invocation:
    """A function that is being called: async ones on the event loop, plain ones in a thread."""

    def __init__(
        self,
        function: Callable[..., Any],
        current: CurrentCall,
        *,
        threads: Threads,
        hide: Callable[[str], str] = str,
    ) -> None:
        """`hide` takes out of what the function prints what nobody is to read."""
        self._function = function
        self._threads = threads
        self._context = contextvars.copy_context()
        self._context.run(CURRENT_CALL.set, current)
        self._context.run(HIDE.set, hide)
        self.in_a_thread = not inspect.iscoroutinefunction(inspect.unwrap(function))
        self.note = ""
        """What is to be told of it once it was left behind."""

    async def run(
        self, arguments: Callable[[], dict[str, Any]], *, seconds: float
    ) -> Returned | Raised | OutOfTime:
        """Call it, and stop it at its deadline.

        Raises:
            CancelledError: and nothing else. It was cancelled, too.
        """
        share_stdout()
        running = asyncio.create_task(self._call(arguments), context=self._context)
        try:
            await asyncio.wait({running}, timeout=seconds)
        except asyncio.CancelledError:
            await self._stop(running)
            raise
        if running.done():
            return running.result()
        await self._stop(running)
        return OutOfTime()

    async def _call(self, arguments: Callable[[], dict[str, Any]]) -> Returned | Raised:
        # Whatever it raises ends here: in a task, SystemExit would end the whole worker.
        try:
            call = partial(self._function, **arguments())
            value: object = await self._threads.run(call) if self.in_a_thread else call()
            if isinstance(value, Awaitable):
                self.in_a_thread = False
                value = await self._watched(cast(Awaitable[object], value))
        except BaseException as error:  # noqa: BLE001
            return Raised(error)
        return value if isinstance(value, Raised) else Returned(value)

    def _watched(self, value: Awaitable[object]) -> Awaitable[object]:
        if not isinstance(value, Coroutine):
            return value
        return watched(cast(Coroutine[Any, Any, object], value), self._complain)

    def _complain(self, seconds: float) -> None:
        _log.warning(
            "the tool function %s held the event loop for %.1f s, and with it all other calls: "
            "an async function must not block",
            getattr(self._function, "__qualname__", self._function),
            seconds,
        )

    async def _stop(self, running: "asyncio.Task[Returned | Raised]") -> None:
        if self.in_a_thread:
            self.note = IN_A_THREAD
        running.cancel()
        await asyncio.wait({running}, timeout=STOP_GRACE_SECONDS)
        if not running.done():
            self.note = IGNORES_ITS_CANCEL
            # Else the event loop would wait for it at its end, for ever, and with it the worker.
            asyncio._unregister_task(running)  # noqa: SLF001  documented, for event loops
