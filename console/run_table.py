"""Runs as people and programs see them listed."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from pydantic import JsonValue

from console.columns import columns
from console.durations import between
from console.safe_text import safe_line
from workers.run_list import ListedRun

_MAX_SUMMARY_CHARACTERS = 60
_MAX_AGENT_CHARACTERS = 30


def run_table(runs: Sequence[ListedRun], now: datetime) -> Iterator[str]:
    """Print runs with a heading, in columns; the last one is the prompt's first words."""
    heading = ("ID", "STATUS", "AGENT", "TURNS", "FAILURES", "AGE", "PROMPT")
    return columns([heading, *(_cells(run, now) for run in runs)])


def run_fields(run: ListedRun) -> dict[str, JsonValue]:
    """Give a run for a program; null where the server does not know."""
    return {
        "workflow_id": run.workflow_id,
        "run_id": run.run_id,
        "status": run.status,
        "agent": run.agent,
        "turns": run.turns,
        "failed_tool_executions": run.failures,
        "last_error_code": run.last_error_code,
        "error_codes": list(run.error_codes),
        "cost": run.cost,
        "started_at": run.started_at.isoformat(),
        "ended_at": None if run.ended_at is None else run.ended_at.isoformat(),
        "prompt": run.summary,
    }


def _cells(run: ListedRun, now: datetime) -> tuple[str, ...]:
    return (
        # Whole, for it is what other commands take.
        safe_line(run.workflow_id, len(run.workflow_id)),
        run.status.replace("_", " "),
        "-" if run.agent is None else safe_line(run.agent, _MAX_AGENT_CHARACTERS),
        _count(run.turns),
        _count(run.failures),
        between(run.started_at, now) or "-",
        safe_line(run.summary, _MAX_SUMMARY_CHARACTERS),
    )


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
