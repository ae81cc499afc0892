"""`-o jsonl`: every event of the ledger as one JSON object a line."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO, Unpack

from pydantic import JsonValue

from console.followed_run import FollowedRun
from console.json_text import json_text
from console.lines import write_line
from console.notices import Notices, fresh_lines, look
from surefoot.events import Event, RunStarted
from workers.snapshot import Snapshot


class JsonlOutput:
    """Writes events to stdout and nothing else there; what stands in a run's way goes to stderr."""

    def __init__(
        self, stdout: TextIO, stderr: TextIO, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._clock = clock
        self._ui_url: str | None = None
        self._queue: str | None = None
        self._unstarted: RunStarted | None = None
        self._notices = Notices()

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Take note of what the ledger does not know."""
        self._ui_url = run["ui_url"]
        self._queue = run.get("queue")
        self._unstarted = RunStarted(
            time=self._clock(), workflow_id=run["workflow_id"], run_id=run["run_id"] or ""
        )

    def show(self, event: Event) -> None:
        """Write one event."""
        self._unstarted = None
        write_line(self._stdout, json_text(event_object(event, ui_url=self._ui_url)))

    def now(self, snapshot: Snapshot) -> None:
        """Say on stderr what has come in the run's way."""
        before, self._notices = self._notices, look(self._notices, snapshot)
        for line in fresh_lines(before, self._notices, queue=self._queue, now=self._clock()):
            write_line(self._stderr, line)

    def end(self) -> None:
        """Name the run if no event did: it was started, and is left to itself."""
        if self._unstarted is not None:
            self.show(self._unstarted)


def event_object(event: Event, *, ui_url: str | None) -> dict[str, JsonValue]:
    """Give an event as `-o jsonl` prints it: `type` and `time` first, and the link where a run starts."""
    fields: dict[str, JsonValue] = event.model_dump(mode="json")
    linked: dict[str, JsonValue] = {"ui_url": ui_url} if isinstance(event, RunStarted) else {}
    return {"type": fields.pop("type"), "time": fields.pop("time"), **fields, **linked}
