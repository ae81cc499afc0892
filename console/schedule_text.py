"""Schedules as people and programs see them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from console.columns import columns
from console.safe_text import safe_line
from surefoot.budget import period
from workers.schedule_views import ListedSchedule, ShownSchedule

_MAX_CHARACTERS = 60


def schedule_table(schedules: Sequence[ListedSchedule]) -> Iterator[str]:
    """Print schedules with a heading, in columns; the last one is the prompt's first words."""
    heading = ("ID", "WHEN", "NEXT", "LAST RUN", "PROMPT")
    return columns([heading, *map(_cells, schedules)])


def schedule_fields(one: ListedSchedule) -> dict[str, JsonValue]:
    """Give a schedule of a list for a program; null where the server does not know."""
    return {
        "id": one.schedule_id,
        "when": one.when,
        "paused": one.paused,
        "note": one.note,
        "next_at": one.next_at and one.next_at.isoformat(),
        "last_run": one.last_run,
        "prompt": one.prompt,
    }


def shown_fields(one: ShownSchedule) -> dict[str, JsonValue]:
    """Give a schedule and what it has done for a program; `run` is the input of its runs."""
    return {
        "id": one.schedule_id,
        "when": one.when,
        "paused": one.paused,
        "note": one.note,
        "next_at": [moment.isoformat() for moment in one.next_at],
        "queue": one.queue,
        "overlap": one.overlap,
        "catch_up_seconds": one.catch_up.total_seconds(),
        "jitter_seconds": one.jitter.total_seconds() if one.jitter is not None else None,
        "started": one.started,
        "skipped": one.skipped,
        "missed": one.missed,
        "recent": [
            {"workflow_id": run.workflow_id, "started_at": run.started_at.isoformat()} for run in one.recent
        ],
        "run": one.run.model_dump(mode="json"),
    }


def shown_lines(one: ShownSchedule) -> Iterator[str]:
    """Print a schedule and what it has done, a line for each thing."""
    yield f"{_safe(one.schedule_id)}: {_safe(one.when)}{_jitter(one.jitter)}"
    yield f"prompt   {_safe(one.run.prompt)}"
    agent = f"{_safe(one.run.agent_name)} with " if one.run.agent_name else ""
    yield f"model    {agent}{_safe(one.run.model)} on queue {_safe(one.queue)}"
    yield f"overlap  {one.overlap}; a start that was missed is made up for within {period(one.catch_up)}"
    yield f"next     {_next(one)}"
    yield f"so far   {one.started:,} started, {one.skipped:,} skipped, {one.missed:,} missed"
    for run in one.recent:
        yield f"  {moment_text(run.started_at)}  {_safe(run.workflow_id)}"


def moment_text(moment: datetime) -> str:
    """Print a moment to the second, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"


def _cells(one: ListedSchedule) -> tuple[str, ...]:
    following = moment_text(one.next_at) if one.next_at is not None else "-"
    return (
        # Whole, for they are what other commands take.
        safe_line(one.schedule_id, len(one.schedule_id)),
        _safe(one.when),
        "paused" if one.paused else following,
        safe_line(one.last_run, len(one.last_run)) if one.last_run else "-",
        _safe(one.prompt),
    )


def _next(one: ShownSchedule) -> str:
    if one.paused:
        return f"paused: {_safe(one.note)}" if one.note else "paused"
    return moment_text(one.next_at[0]) if one.next_at else "never again"


def _jitter(jitter: timedelta | None) -> str:
    return f", up to {period(jitter)} later" if jitter else ""


def _safe(text: str) -> str:
    return safe_line(text, _MAX_CHARACTERS)
