"""What has happened, as lines that stay in a terminal's scrollback."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from console.approval_text import approval_lines
from console.call_line import call_line
from console.compaction import compaction_text
from console.durations import between
from console.followed_run import FollowedRun
from console.message import message_lines
from console.progress import CallProgress, Progress, text_to_show
from console.safe_text import safe_text
from console.steering_text import steering_text
from console.wording import (
    answer_preview,
    failure_text,
    first_lines,
    last_lines,
    run_error,
    status_text,
    time_taken,
    totals,
)
from surefoot.events import (
    Answered,
    ApprovalDenied,
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
from surefoot.outcome import ToolFailure, ToolSuccess

_MAX_TEXT_LINES = 40
_MAX_PROMPT_LINES = 10
_CAPTURED_LINES = 3
_DONE = ("✓", "bold green")
_FAILED = ("✗", "bold red")
_MARKS = {"completed": _DONE, "limit_reached": ("■", "bold yellow"), "cancelled": ("■", "bold yellow")}


def header_lines(run: FollowedRun) -> Iterator[Text]:
    """Print which run this is, and where to look at it."""
    yield Text.assemble(
        ("● ", "bold cyan"), (safe_text(run["workflow_id"]), "bold"), ("  " + safe_text(run["model"]), "dim")
    )
    if run["ui_url"] is not None:
        yield Text.assemble("  ", (safe_text(run["ui_url"]), "underline blue"))
    for line in first_lines(run.get("prompt", ""), _MAX_PROMPT_LINES):
        yield Text(f"  > {line}", "bold")


def happened_lines(
    event: Event, *, before: Progress, after: Progress, width: int
) -> Iterator[RenderableType]:
    """Print an event that took the progress from `before` to `after`, once there is no more to say of it."""
    if isinstance(event, ModelReplied):
        took = between(before.asked_model_at, event.time) or ""
        yield Text.assemble((f"turn {event.turn}", "bold"), (f"  {took}", "dim"))
    text = "\n".join(first_lines(text_to_show(before, event), _MAX_TEXT_LINES))
    if text:
        yield _indented(Text(text), 2)
    match event:
        case (
            RunStarted()
            | Answered()
            | TurnStarted()
            | ModelReplied()
            | ToolExecutionScheduled()
            | ToolExecutionStarted()
        ):
            pass
        case ContextCompacted():
            yield Text(compaction_text(event), "yellow")
        case RunPaused() | ModelUnavailable() | RunResumed() | LimitRaised():
            yield Text(steering_text(event), "bold yellow")
        case ApprovalRequested() | ApprovalGiven() | ApprovalDenied():
            yield from (Text(f"  {line}", "bold yellow") for line in approval_lines(event))
        case MessageReceived():
            yield from (Text(f"  {line}", "bold") for line in message_lines(event))
        case ToolExecutionCompleted() | ToolExecutionFailed():
            yield from _call_lines(after.ended, width)
        case RunFinished():
            yield from _finished_lines(event, after)


def _call_lines(call: CallProgress | None, width: int) -> Iterator[RenderableType]:
    if call is None:
        return
    took = (time_taken(call) or "", "cyan")
    match call.execution.outcome:
        case ToolSuccess() as success:
            yield call_line(call, mark=_DONE, after=(took,), width=width)
            preview = answer_preview(success)
            if preview:
                yield Text(f"    {preview}", "dim", no_wrap=True, overflow="ellipsis")
        case ToolFailure() as failure:
            yield call_line(call, mark=_FAILED, after=(took, (failure.error_code, "bold red")), width=width)
            yield _indented(Text(failure_text(failure), "red"), 4)
            for line in last_lines(failure.stderr or failure.stdout, _CAPTURED_LINES):
                yield Text(f"    │ {line}", "dim", no_wrap=True, overflow="ellipsis")
        case None:
            pass


def _finished_lines(finished: RunFinished, progress: Progress) -> Iterator[RenderableType]:
    mark = _MARKS.get(finished.status, _FAILED)
    yield Text.assemble(mark, " ", (status_text(finished), mark[1]), f" after {totals(progress, finished)}")
    if finished.error:
        yield _indented(Text(run_error(finished.error), mark[1]), 2)


def _indented(text: Text, cells: int) -> Padding:
    return Padding(text, (0, 0, 0, cells), expand=False)
