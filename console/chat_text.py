"""A conversation as text: what happens goes to stderr, and answers go to stdout."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, TextIO, Unpack

from console.answer import print_answer, print_ending
from console.followed_run import FollowedRun
from console.json_text import json_text
from console.lines import write_line
from console.notices import Notices, fresh_lines, look
from console.plain import event_lines
from console.progress import Progress, advance
from console.safe_text import safe_text
from surefoot.events import (
    Answered,
    Event,
    MessageReceived,
    RunFinished,
    TurnStarted,
)
from workers.snapshot import Snapshot


class Growing(Protocol):
    """Shows what the model has written of its reply, until it is told to take it away."""

    def show(self, snapshot: Snapshot) -> None:
        """Show what is written by now."""
        ...

    def clear(self) -> None:
        """Take it away."""
        ...


class ChatText:
    """Writes each answer as it comes, and before it the calls that it took."""

    def __init__(
        self,
        stdout: TextIO,
        stderr: TextIO,
        *,
        own: Callable[[str], bool],
        growing: Growing | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`own` tells by its id whether a message was typed here: what was typed is not printed again.

        With `growing`, whoever typed it sees the reply to it while it is written.
        """
        self._stdout, self._stderr = stdout, stderr
        self._own = own
        self._growing = growing
        self._answers_here = False
        self._clock = clock
        self._queue: str | None = None
        self._progress = Progress()
        self._notices = Notices()

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Say which session it is."""
        self._queue = run.get("queue")
        self._write(f"session {safe_text(run['workflow_id'])} with {safe_text(run['model'])}")
        if run["ui_url"] is not None:
            self._write(f"see {safe_text(run['ui_url'])}")

    def show(self, event: Event) -> None:
        """Write what an event says to the people who talk."""
        before, self._progress = self._progress, advance(self._progress, event)
        self._clear()
        match event:
            case TurnStarted():
                return
            case MessageReceived(message_id=str(message_id)) if self._own(message_id):
                self._answers_here = True
                return
            case Answered(answer=answer, output=output):
                self._answers_here = False
                if output is None:
                    print_answer(answer, self._stdout)
                else:
                    write_line(self._stdout, json_text(output))
                return
            case RunFinished(status="completed"):
                self._write("the session has ended")
                return
            case RunFinished():
                print_ending(event, self._stdout)
                before = replace(before, held_back="")
            case _:
                pass
        for line in event_lines(event, before=before, after=self._progress):
            self._write(line)

    def now(self, snapshot: Snapshot) -> None:
        """Write what has come in the session's way."""
        before, self._notices = self._notices, look(self._notices, snapshot)
        for line in fresh_lines(before, self._notices, queue=self._queue, now=self._clock()):
            self._clear()
            self._write(line)
        # While somebody types the next message, nothing is drawn below it.
        if self._growing is not None and self._answers_here and self._progress.asked_model_at is not None:
            self._growing.show(snapshot)

    def end(self) -> None:
        """Take away what was not said to the end; all else has been written."""
        self._clear()

    def _clear(self) -> None:
        if self._growing is not None:
            self._growing.clear()

    def _write(self, line: str) -> None:
        write_line(self._stderr, line)
