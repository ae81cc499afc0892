"""A line that somebody types at a terminal, while the command goes on with what else it does."""

import asyncio
import os
import termios
from contextlib import suppress

_MAX_LINE_BYTES = 64 * 1024


def forget_typed(terminal: int) -> None:
    """Leave out what was typed before a question was seen: it can be no answer to it."""
    with suppress(termios.error):
        termios.tcflush(terminal, termios.TCIFLUSH)


class TypedLines:
    """The lines that are typed at a terminal, which nobody else reads."""

    def __init__(self, terminal: int) -> None:
        """`terminal` is its number."""
        self._terminal = terminal

    def forget(self) -> None:
        """Leave out what was typed until now."""
        forget_typed(self._terminal)

    async def line(self) -> str | None:
        """Wait for a line; None at the end of the input."""
        return await typed_line(self._terminal)


async def typed_line(terminal: int) -> str | None:
    """Wait for a line; None at the end of the input. The terminal gives it when Enter is pressed."""
    # A thread that reads would keep the command from ending until Enter is pressed after all.
    typed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(terminal, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(terminal)
    line = os.read(terminal, _MAX_LINE_BYTES)
    return line.decode("utf-8", "replace").strip() if line else None
