"""What is running now, as the few lines at the bottom of a terminal that change all the time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from rich.text import Text

from activities.interface import COMPACT_CONTEXT, Capture
from console.call_line import call_line
from console.durations import between
from console.live_draft import draft_lines
from console.notices import Notices, look, notice_lines
from console.progress import CallProgress, Progress
from console.safe_text import safe_text
from console.wording import counted, last_lines
from workers.snapshot import RunningActivity, Snapshot

MAX_CALLS_SHOWN = 8
_MAX_TAIL_LINES = 6
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_SECOND = 10


@dataclass(frozen=True)
class Scene:
    """Everything that the changing lines show; each change makes a new scene, for another thread reads it."""

    model: str = ""
    queue: str | None = None
    progress: Progress = field(default_factory=Progress)
    notices: Notices = field(default_factory=Notices)
    running: Mapping[str, RunningActivity] = field(default_factory=dict[str, RunningActivity])
    """What the server said is under way, by activity id."""


def running_lines(scene: Scene, now: datetime, *, width: int) -> Iterator[Text]:
    """Draw a scene: the calls or the model's turn that is under way, and what stands in the way."""
    progress = scene.progress
    if progress.finished is not None:
        return
    calls = list(progress.in_flight.values())
    tail_lines = max(_MAX_TAIL_LINES // max(len(calls), 1), 1)
    for call in calls[:MAX_CALLS_SHOWN]:
        activity = scene.running.get(call.execution.tool_exec_id)
        yield _call_line(call, activity, now, width)
        for line in _tail(activity.captured if activity else None, tail_lines):
            yield Text(f"    │ {line}", "dim")
    more = _more(len(calls) - MAX_CALLS_SHOWN, progress.not_scheduled)
    if more:
        yield Text(f"    {more}", "dim")
    if not calls:
        yield _waiting_line(scene, now)
        yield from _draft(scene, width)
    for line in notice_lines(scene.notices, queue=scene.queue, now=now):
        yield Text(f"  {line}", "yellow")


def seen(scene: Scene, snapshot: Snapshot) -> Scene:
    """Give the scene after one more look at the run."""
    running = {one.activity_id: one for one in snapshot.running}
    return replace(scene, notices=look(scene.notices, snapshot), running=running)


def _call_line(call: CallProgress, activity: RunningActivity | None, now: datetime, width: int) -> Text:
    waits = activity is not None and activity.started_at is None
    since = activity.started_at if activity is not None and not waits else call.since
    after = ((between(since, now) or "", "cyan"), ("waits for an executor" if waits else "", "yellow"))
    return call_line(call, mark=(_spinner(now), "cyan"), after=after, width=width)


def _tail(captured: Capture | None, count: int) -> list[str]:
    if captured is None:
        return []
    return last_lines(captured.stdout, count) or last_lines(captured.stderr, count)


def _more(running: int, not_scheduled: int) -> str:
    parts = [
        f"{counted(running, 'more call')} running" if running > 0 else "",
        f"{counted(not_scheduled, 'call')} waiting" if not_scheduled else "",
    ]
    return " and ".join(part for part in parts if part)


def _waiting_line(scene: Scene, now: datetime) -> Text:
    progress = scene.progress
    if progress.going == "paused":
        return Text("  ‖ paused", "yellow")
    if progress.model_away is not None:
        return Text("  ‖ waits for its model", "yellow")
    if progress.listens:
        return Text("  ‖ waits for the next message", "dim")
    line = Text(f"  {_spinner(now)} ", "cyan")
    if any(one.activity_type == COMPACT_CONTEXT for one in scene.running.values()):
        return line.append("making room in the context window", "none")
    if waiting := len(progress.to_approve):
        return line.append(f"{counted(waiting, 'call')} waiting for approval", "yellow")
    if progress.asked_model_at is None:
        return line.append("working" if progress.turn else "starting", "none")
    line.append(f"turn {progress.turn}: asking {safe_text(scene.model)}", "none")
    return line.append(f"  {between(progress.asked_model_at, now)}", "cyan")


def _draft(scene: Scene, width: int) -> Iterator[Text]:
    # What was seen last may be older than the reply, which is printed above by then.
    if scene.progress.asked_model_at is not None:
        yield from draft_lines(scene.running.values(), lines=_MAX_TAIL_LINES, width=width)


def _spinner(now: datetime) -> str:
    return _FRAMES[int(now.timestamp() * _FRAMES_PER_SECOND) % len(_FRAMES)]
