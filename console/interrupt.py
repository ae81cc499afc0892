"""SIGINT, SIGTERM and SIGHUP: the first asks a command to end well, the second ends it at once."""

import asyncio
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from console.exit_codes import ExitCode

_AT_ONCE = "Ctrl-C again ends it at once."


class Interrupt:
    """Whether the command was asked to end; until it heeds that itself, asking cancels the current task."""

    def __init__(self, *, at_once: ExitCode = ExitCode.DETACHED) -> None:
        """`at_once` is the exit code of a command that is asked twice."""
        self.asked = asyncio.Event()
        self._at_once = at_once
        self._cancelled = asyncio.current_task()
        self._last_words = f"Stopping. {_AT_ONCE}"

    @contextmanager
    def heeded(self, last_words: str) -> Generator[None]:
        """Say `last_words` when asked to end, and leave the ending to the command, within and ever after."""
        before, self._last_words, self._cancelled = self._last_words, last_words, None
        try:
            yield
        finally:
            self._last_words = before

    async def first(self, *tasks: "asyncio.Task[Any]") -> None:
        """Wait until one of the tasks is done or the command is asked to end, whichever comes first."""
        asked = asyncio.create_task(self.asked.wait())
        try:
            await asyncio.wait({asked, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()

    def ask(self) -> None:
        """Ask the command to end; a second time it is ended here and now."""
        if self.asked.is_set():
            os._exit(self._at_once)
        self.asked.set()
        # The terminal may be what has just gone away.
        with suppress(OSError):
            sys.stderr.write(f"\n{self._last_words}\n")
            sys.stderr.flush()
        if self._cancelled is not None:
            self._cancelled.cancel()


@contextmanager
def interruptible(*, at_once: ExitCode = ExitCode.DETACHED) -> Generator[Interrupt]:
    """Catch the signals in the running loop; `at_once` is the exit code of a command that is asked twice."""
    interrupt = Interrupt(at_once=at_once)
    loop = asyncio.get_running_loop()
    # Under `nohup` the end of the terminal is to be survived.
    hang_up = () if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN else (signal.SIGHUP,)
    signals = (signal.SIGINT, signal.SIGTERM, *hang_up)
    for number in signals:
        loop.add_signal_handler(number, interrupt.ask)
    try:
        yield interrupt
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
