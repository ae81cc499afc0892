"""The terminal at which the worker was started, with nobody before it."""

import fcntl
import os
import pty
import termios
import tty
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Terminal:
    """The controlling terminal of this process."""

    screen: int
    keyboard: int

    @property
    def name(self) -> str:
        """Its device."""
        return os.ttyname(self.keyboard)

    def typed(self) -> bytes:
        """Take what was typed."""
        return _taken(self.keyboard)

    def shown(self) -> bytes:
        """Take what was written."""
        return _taken(self.screen)

    def clear(self) -> None:
        """Forget what was typed and written before."""
        self.typed()
        self.shown()


def take_terminal() -> Terminal:
    """Have one until this process ends; it must lead its session, and have none yet."""
    screen, keyboard = pty.openpty()
    fcntl.ioctl(keyboard, termios.TIOCSCTTY, 0)
    # What is typed is there at once, and not shown.
    tty.setraw(keyboard)
    for descriptor in (screen, keyboard):
        os.set_blocking(descriptor, False)
    return Terminal(screen, keyboard)


def _taken(descriptor: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(descriptor, 4096)
    return b""
