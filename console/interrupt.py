"""Ctrl-C and SIGTERM: the first asks a command to end well, the second ends it at once."""

import asyncio
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from console.exit_codes import ExitCode


class Interrupt:
    """Whether the command was asked to end."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def first(self, *tasks: "asyncio.Task[Any]") -> None:
        """Wait until one of the tasks is done or the command is asked to end, whichever comes first."""
        asked = asyncio.create_task(self.asked.wait())
        try:
            await asyncio.wait({asked, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()


@contextmanager
def interruptible(last_words: str) -> Generator[Interrupt]:
    """Catch both signals in the running loop; `last_words` is printed on stderr at the first."""
    interrupt = Interrupt()

    def handle() -> None:
        if interrupt.asked.is_set():
            os._exit(ExitCode.DETACHED)
        interrupt.asked.set()
        sys.stderr.write(f"\n{last_words}\n")
        sys.stderr.flush()

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, handle)
    try:
        yield interrupt
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
