"""Runs for tests of what people see: events and snapshots made by hand, at seconds of one clock."""

import io
from datetime import UTC, datetime, timedelta
from typing import TypedDict

from pydantic import JsonValue
from rich.console import Console
from temporalio.client import WorkflowExecutionStatus

from activities.interface import Capture
from console.followed_run import FollowedRun
from surefoot.conversation import ToolCall
from surefoot.events import (
    Event,
    ExecutionError,
    ModelReplied,
    RunFinished,
    RunStarted,
    RunStatus,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
    TurnStarted,
)
from surefoot.failures import acted
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.usage import Usage
from workers.snapshot import RunningActivity, Snapshot

UI = "http://127.0.0.1:8233/namespaces/default/workflows/run-1/r-1/history"
RUN: FollowedRun = {"workflow_id": "run-1", "run_id": "r-1", "ui_url": UI, "model": "scripted:a.yaml"}
USAGE = Usage(requests=2, input_tokens=1_200, output_tokens=34)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


class _Named(TypedDict):
    tool_exec_id: str
    call_id: str
    tool: str


def at(seconds: float) -> datetime:
    return datetime(2025, 1, 1, 12, tzinfo=UTC) + timedelta(seconds=seconds)


def started(seconds: float = 0) -> RunStarted:
    return RunStarted(time=at(seconds), workflow_id="run-1", run_id="r-1")


def turn(number: int, seconds: float) -> TurnStarted:
    return TurnStarted(time=at(seconds), turn=number)


def replied(number: int, seconds: float, text: str, *calls: tuple[str, JsonValue]) -> ModelReplied:
    asked = tuple(ToolCall(id=f"c{n}", tool=tool, params=params) for n, (tool, params) in enumerate(calls, 1))
    return ModelReplied(time=at(seconds), turn=number, text=text, tool_calls=asked)


def scheduled(name: str, tool: str, seconds: float) -> ToolExecutionScheduled:
    return ToolExecutionScheduled(time=at(seconds), **_named(name, tool))


def ended(
    name: str,
    tool: str,
    seconds: float,
    outcome: ToolSuccess | ToolFailure,
    *,
    since: float | None = None,
) -> list[Event]:
    """The events of a call's ending; without `since` it never started."""
    begin: list[Event] = []
    if since is not None:
        event = ToolExecutionStarted(
            time=at(seconds), started_at=at(since), executor="worker-1", **_named(name, tool)
        )
        begin.append(event)
    return [*begin, _ending(name, tool, seconds, outcome)]


def answered(tool: str, result: JsonValue) -> ToolSuccess:
    return ToolSuccess(tool=tool, result=result)


def finished(
    seconds: float, *, status: RunStatus = "completed", answer: str | None = None, error: str | None = None
) -> RunFinished:
    return RunFinished(time=at(seconds), status=status, answer=answer, error=error, usage=USAGE)


def running(name: str, activity_type: str, **more: object) -> RunningActivity:
    fields: dict[str, object] = {
        "started_at": None,
        "attempt": 1,
        "next_attempt_at": None,
        "last_failure": None,
        "captured": None,
        **more,
    }
    return RunningActivity(activity_id=name, activity_type=activity_type, **fields)  # pyright: ignore[reportArgumentType]  each test names the fields that it is about


def snapshot(*activities: RunningActivity, served: bool = True) -> Snapshot:
    return Snapshot(WorkflowExecutionStatus.RUNNING, activities, served)


def wrote(stdout: str) -> Capture:
    return Capture(stdout=stdout)


def screen(*, width: int = 80, height: int = 40) -> Console:
    """A terminal whose picture is in its file: no colours, and nothing is drawn twice."""
    return Console(file=io.StringIO(), width=width, height=height, markup=False, emoji=False, highlight=False)


def _named(name: str, tool: str) -> _Named:
    return {"tool_exec_id": name, "call_id": f"c{name.partition('-')[2]}", "tool": tool}


def _ending(name: str, tool: str, seconds: float, outcome: ToolSuccess | ToolFailure) -> Event:
    match outcome:
        case ToolSuccess():
            return ToolExecutionCompleted(time=at(seconds), outcome=outcome, **_named(name, tool))
        case ToolFailure(error=message, error_code=code):
            return ToolExecutionFailed(
                time=at(seconds),
                outcome=outcome,
                error=ExecutionError(message=message, code=code),
                acted=acted(outcome),
                **_named(name, tool),
            )
