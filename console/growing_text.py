"""A reply at a terminal while it is written, below what has been said; it is gone once it is whole."""

from typing import TextIO

from rich.console import Group
from rich.live import Live

from console.live import is_capable, terminal
from console.live_draft import draft_lines
from workers.snapshot import Snapshot

_LINES = 12


class GrowingText:
    """Draws what is written, and takes it away again before anything else is printed."""

    def __init__(self, stream: TextIO) -> None:
        self._screen = terminal(stream)
        self._live: Live | None = None

    @property
    def usable(self) -> bool:
        """Whether the terminal can draw lines again."""
        return is_capable(self._screen)

    def show(self, snapshot: Snapshot) -> None:
        """Draw what the model has written by now."""
        lines = list(draft_lines(snapshot.running, lines=_LINES, width=self._screen.width))
        if not lines:
            self.clear()
            return
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        if self._live is None:
            self._live = Live(console=self._screen, auto_refresh=False, transient=True, redirect_stdout=False)
            self._live.start()
        self._live.update(Group(*lines), refresh=True)

    def clear(self) -> None:
        """Leave nothing of it on the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def growing_on(stream: TextIO) -> GrowingText | None:
    """Give what draws on a terminal; None for one that cannot draw lines again."""
    growing = GrowingText(stream)
    return growing if growing.usable else None
