"""Progress as plain lines, for a log or a pipe."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TextIO, Unpack

from console.answer import print_ending
from console.approval_text import approval_lines
from console.compaction import compaction_text
from console.followed_run import FollowedRun
from console.lines import write_line
from console.message import message_lines
from console.notices import Notices, fresh_lines, look
from console.progress import CallProgress, Progress, advance, text_to_show
from console.safe_text import safe_text
from console.steering_text import steering_text
from console.wording import (
    call_title,
    failure_text,
    first_lines,
    run_error,
    status_text,
    time_taken,
    totals,
)
from surefoot.events import (
    Answered,
    ApprovalDenied,
    ApprovalEvent,
    ApprovalGiven,
    ApprovalRequested,
    ContextCompacted,
    Event,
    LimitRaised,
    MessageReceived,
    ModelReplied,
    ModelUnavailable,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
    TurnStarted,
)
from surefoot.outcome import ToolFailure
from workers.snapshot import Snapshot

_MAX_TEXT_LINES = 20
_MAX_PROMPT_LINES = 10


class PlainOutput:
    """Writes a line for each thing that happens, as it happens; the answer goes to `answer` at the end."""

    def __init__(
        self,
        stream: TextIO,
        *,
        answer: TextIO | None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._stream = stream
        self._answer = answer
        self._clock = clock
        self._queue: str | None = None
        self._progress = Progress()
        self._notices = Notices()

    def begin(self, **run: Unpack[FollowedRun]) -> None:
        """Write the workflow id and the link first."""
        self._queue = run.get("queue")
        for line in run_lines(run):
            self._write(line)

    def show(self, event: Event) -> None:
        """Write what one event says to people."""
        before, self._progress = self._progress, advance(self._progress, event)
        for line in event_lines(event, before=before, after=self._progress):
            self._write(line)

    def now(self, snapshot: Snapshot) -> None:
        """Write what has come in the run's way."""
        before, self._notices = self._notices, look(self._notices, snapshot)
        for line in fresh_lines(before, self._notices, queue=self._queue, now=self._clock()):
            self._write(line)

    def end(self) -> None:
        """Write the answer, if there is one."""
        finished = self._progress.finished
        if finished is not None and self._answer is not None:
            print_ending(finished, self._answer)

    def _write(self, line: str) -> None:
        write_line(self._stream, line)


def run_lines(run: FollowedRun) -> Iterator[str]:
    """Print which run it is, where to look at it, and what was asked."""
    yield f"run {safe_text(run['workflow_id'])} with {safe_text(run['model'])}"
    if run["ui_url"] is not None:
        yield f"see {safe_text(run['ui_url'])}"
    for line in first_lines(run.get("prompt", ""), _MAX_PROMPT_LINES):
        yield f"> {line}"


def event_lines(event: Event, *, before: Progress, after: Progress) -> Iterator[str]:
    """Print an event that took the progress from `before` to `after`; some say nothing that is new."""
    for line in first_lines(text_to_show(before, event), _MAX_TEXT_LINES):
        yield f"  {line}"
    match event:
        case RunStarted() | ModelReplied():
            pass
        case TurnStarted(turn=turn):
            yield f"turn {turn}"
        case ContextCompacted():
            yield compaction_text(event)
        case MessageReceived() | Answered():
            yield from message_lines(event)
        case RunPaused() | ModelUnavailable() | RunResumed() | LimitRaised():
            yield steering_text(event)
        case (
            ApprovalRequested()
            | ApprovalGiven()
            | ApprovalDenied()
            | ToolExecutionScheduled()
            | ToolExecutionStarted()
            | ToolExecutionCompleted()
            | ToolExecutionFailed()
        ):
            yield from _call_lines(event, after)
        case RunFinished():
            yield from finished_lines(event, after)


def _call_lines(
    event: ApprovalEvent
    | ToolExecutionScheduled
    | ToolExecutionStarted
    | ToolExecutionCompleted
    | ToolExecutionFailed,
    after: Progress,
) -> Iterator[str]:
    match event:
        case ApprovalRequested() | ApprovalGiven() | ApprovalDenied():
            yield from (f"  {line}" for line in approval_lines(event))
        case ToolExecutionScheduled():
            yield f"  {call_title(after.in_flight[event.tool_exec_id])}"
        case ToolExecutionStarted(child_id=child_id):
            if child_id is not None:
                yield f"    {child_line(child_id)}"
        case ToolExecutionCompleted() | ToolExecutionFailed():
            if after.ended is not None:
                yield f"  {ending_line(after.ended)}"


def child_line(child_id: str) -> str:
    """Print where the run of an agent that was called can be seen."""
    return f"as run {safe_text(child_id)}"


def finished_lines(finished: RunFinished, progress: Progress) -> Iterator[str]:
    """Print how a run ended, what it amounted to, and why it did not complete."""
    yield f"{status_text(finished)} after {totals(progress, finished)}"
    if finished.error:
        yield f"  {run_error(finished.error)}"


def ending_line(call: CallProgress) -> str:
    """Print what was called and how it ended, on one line."""
    took = time_taken(call)
    match call.execution.outcome:
        case ToolFailure() as failure:
            after = f" after {took}" if took else ""
            return f"{call_title(call)} -> {failure.error_code}{after}: {failure_text(failure)}"
        case _:
            return f"{call_title(call)} -> ok in {took}"
