"""What a line of the log is about: the run, the turn and the call that it was printed in."""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from temporalio import activity, workflow

from workflows.agent import Agent

Fields = MutableMapping[str, Any]

_NAMES = {
    "workflow_id": "workflow_id",
    "run_id": "run_id",
    "workflow_run_id": "run_id",
    "task_queue": "task_queue",
    "activity_type": "activity_type",
    "activity_id": "activity_id",
    "attempt": "attempt",
}
"""What is told of the workflow or activity that a line comes from: the SDK's name for it, and ours."""

_TURN = re.compile(r"turn-(\d+)(-.+)?")
_CALL = re.compile(r"(\d+)-\d+")


def say_where(_logger: object, _method: str, event: Fields) -> Fields:
    """Add fields on where a line comes from, whichever logger it went to; those that it has stay."""
    for internal in ("temporal_log", "__temporal_error_identifier"):
        event.pop(internal, None)
    # The SDK's own lines on a run or an activity are printed outside of it, and bring a dictionary.
    for source in ("temporal_workflow", "temporal_activity"):
        info = event.pop(source, None)
        if isinstance(info, dict):
            event.update({ours: info[theirs] for theirs, ours in _NAMES.items() if theirs in info})
    for name, value in _here().items():
        event.setdefault(name, value)
    for name, value in _named_by(event.get("activity_id")).items():
        event.setdefault(name, value)
    if "turn" not in event:
        event.update(_named_by(event.get("tool_exec_id"), only="turn"))
    return event


def _here() -> Mapping[str, Any]:
    if workflow.in_workflow():
        info, agent = workflow.info(), workflow.instance()
        turn = {"turn": agent.turn} if isinstance(agent, Agent) and agent.turn else {}
        return _told(info) | turn
    return _told(activity.info()) if activity.in_activity() else {}


def _told(info: object) -> dict[str, Any]:
    told = {ours: getattr(info, theirs) for theirs, ours in _NAMES.items() if hasattr(info, theirs)}
    return {name: value for name, value in told.items() if value is not None}


def _named_by(identifier: object, *, only: str | None = None) -> dict[str, int | str]:
    """Read the turn, and the call, in an id of ours: `turn-7` and whatever follows it, or `7-2`."""
    text = identifier if isinstance(identifier, str) else ""
    if found := _CALL.fullmatch(text):
        named: dict[str, int | str] = {"turn": int(found[1]), "tool_exec_id": text}
        return {name: value for name, value in named.items() if only in (None, name)}
    found = _TURN.fullmatch(text)
    return {"turn": int(found[1])} if found else {}
