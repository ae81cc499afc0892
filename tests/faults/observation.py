"""What was seen of a tool call once it had ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.faults.case import AtMost, Case


@dataclass(frozen=True)
class Observation:
    """One call as the ledger, the model, the working directory and the process table knew it."""

    outcome: Mapping[str, Any]
    """The envelope of `-o jsonl`."""
    told: Mapping[str, Any]
    """The envelope that the model had read when it made its next reply."""
    side_effects: int
    survivors: Sequence[str]
    seconds: float
    """From its start to its ending in the ledger; from when it was scheduled if it never started."""


def expected(case: Case) -> dict[str, object]:
    """Give what an observation of this case must be equal to, as `asdict` shows it."""
    envelope = case.sees.envelope(case.tool)
    return {
        "outcome": envelope,
        "told": envelope,
        "side_effects": case.side_effects,
        "survivors": [],
        "seconds": AtMost(case.within_seconds),
    }


def seconds_taken(events: Sequence[Mapping[str, Any]], tool_exec_id: str) -> float:
    """Tell how long an execution took; 0 for a call that was refused before it was scheduled."""
    times: dict[str, str] = {}
    for event in events:
        if event.get("tool_exec_id") == tool_exec_id:
            kind = event["type"].removeprefix("tool_execution_")
            times[kind] = event.get("started_at") or event["time"]
    ended = times.get("completed") or times["failed"]
    began = times.get("started") or times.get("scheduled") or ended
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()
