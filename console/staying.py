"""Keeping the embedded server and its UI up after a run, for somebody at a terminal."""

import asyncio
import os
import sys

from console.interrupt import Interrupt

_MAX_LINE_BYTES = 4096


async def keep_ui_up(interrupt: Interrupt, *, until_enter: bool) -> None:
    """Stay until Enter or an interrupt if asked to, else say where the UI is from now on.

    Without a terminal there is nobody to stay for, nor to tell.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    if not until_enter:
        _say("The UI goes down with this command; `surefoot dev` shows the run again.")
        return
    _say("The UI stays up until you press Enter.")
    entered = asyncio.create_task(_enter(sys.stdin.fileno()))
    with interrupt.heeded("Leaving; `surefoot dev` shows the run again."):
        await interrupt.first(entered)
    entered.cancel()


async def _enter(terminal: int) -> None:
    # A thread that reads would keep the command from ending until Enter is pressed after all.
    pressed = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(terminal, pressed.set)
    try:
        await pressed.wait()
    finally:
        loop.remove_reader(terminal)
    os.read(terminal, _MAX_LINE_BYTES)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
