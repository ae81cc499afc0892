"""`-o json`: how the run stands, as one JSON object at the end."""

from typing import TextIO, Unpack

from pydantic import JsonValue

from console.followed_run import FollowedRun
from console.json_text import json_text
from console.lines import write_line
from console.progress import Progress, advance
from surefoot.events import Event
from surefoot.usage import Usage
from workers.snapshot import Snapshot


class JsonOutput:
    """Writes one object to stdout when it is ended; the status of a run that was left says how it goes on."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self._names: dict[str, JsonValue] = {"workflow_id": None, "run_id": None, "ui_url": None}
        self._progress = Progress()

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Take note of how the run is named."""
        self._names = {
            "workflow_id": run["workflow_id"],
            "run_id": run["run_id"] or None,
            "ui_url": run["ui_url"],
        }

    def show(self, event: Event) -> None:
        """Count one event in."""
        self._progress = advance(self._progress, event)

    def now(self, snapshot: Snapshot) -> None:
        """Nothing: what a run is doing is not part of how it ended."""

    def end(self) -> None:
        """Write the object."""
        write_line(self._stdout, json_text({**self._names, **standing(self._progress)}))


def standing(progress: Progress) -> dict[str, JsonValue]:
    """Give how a run stands, as fields; one that goes on is `running`, `paused` or `waiting`."""
    finished = progress.finished
    usage = finished.usage if finished else Usage()
    return {
        "status": progress.going,
        "answer": finished.answer if finished else None,
        "output": finished.output if finished else None,
        "error": finished.error if finished else None,
        "turns": progress.turn,
        "tool_executions": progress.executions,
        "failed_tool_executions": progress.failed_executions,
        "usage": usage.model_dump(mode="json"),
    }
