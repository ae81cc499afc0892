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
