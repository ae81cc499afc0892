"""A run on a terminal: what has happened scrolls away, what is running now is drawn again and again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TextIO, Unpack

from rich.console import Console, Group
from rich.live import Live

from console.answer import print_ending
from console.followed_run import FollowedRun
from console.live_lines import happened_lines, header_lines
from console.live_view import Scene, running_lines, seen
from console.progress import advance
from surefoot.events import Event
from workers.snapshot import Snapshot

_FRAMES_PER_SECOND = 8


def terminal(stream: TextIO) -> Console:
    """Give the terminal behind a stream; whether it has colours is the user's choice (NO_COLOR, TERM)."""
    return Console(file=stream, force_terminal=True, markup=False, highlight=False, emoji=False)


def is_capable(screen: Console) -> bool:
    """Whether a terminal can draw lines again, and show the marks used here."""
    return not screen.is_dumb_terminal and screen.encoding.startswith("utf")


class LiveOutput:
    """Draws a run on a terminal; the answer goes to `answer` at the end."""

    def __init__(
        self,
        screen: Console,
        *,
        answer: TextIO | None,
        keep_running: bool = False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """With `keep_running` what runs at the end stays on the screen, as it stood."""
        self._screen = screen
        self._answer = answer
        self._clock = clock
        self._scene = Scene()
        self._live = Live(
            console=screen,
            get_renderable=self._running,
            refresh_per_second=_FRAMES_PER_SECOND,
            transient=not keep_running,
            # stdout may be a file; what others write to stderr appears above the changing lines.
            redirect_stdout=False,
        )

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Print the workflow id and the link, and begin to draw."""
        for line in header_lines(run):
            # The terminal itself breaks a long link, and so can still recognize it.
            self._screen.print(line, soft_wrap=True)
        self._scene = replace(self._scene, model=run["model"], queue=run.get("queue"))
        self._live.start()

    def show(self, event: Event) -> None:
        """Print what one event says to people, above what is running."""
        before = self._scene.progress
        self._scene = replace(self._scene, progress=advance(before, event))
        lines = list(
            happened_lines(event, before=before, after=self._scene.progress, width=self._screen.width)
        )
        if lines:
            self._screen.print(Group(*lines))

    def now(self, snapshot: Snapshot) -> None:
        """Draw what is running from now on."""
        self._scene = seen(self._scene, snapshot)

    def hold(self) -> None:
        """Draw nothing until `go_on`; what happens is printed all the same."""
        self._live.stop()

    def go_on(self) -> None:
        """Draw again."""
        self._live.start()

    def end(self) -> None:
        """Stop drawing, and print the answer, if there is one."""
        self._live.stop()
        finished = self._scene.progress.finished
        if finished is not None and finished.answer and self._answer is not None:
            if self._answer.isatty():
                self._screen.print()
            print_ending(finished, self._answer)

    def _running(self) -> Group:
        lines = list(running_lines(self._scene, self._clock(), width=self._screen.width))
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines)
