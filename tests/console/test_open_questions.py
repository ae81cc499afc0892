"""What somebody who begins to look at a run has to hear of what happened before."""

from pydantic import TypeAdapter

from console.open_questions import still_open
from surefoot.events import Event

EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def event(kind: str, call: str, **more: object) -> Event:
    named = {"time": "2026-01-01T00:00:00Z", "tool_exec_id": call, "call_id": f"c{call}", "tool": "rm"}
    return EVENT.validate_python({"type": kind, **named, **more})


def asked(call: str) -> Event:
    return event("approval_requested", call, params={}, params_sha256="", why="always")


def test_what_was_decided_or_has_ended_is_nothing_to_hear_of() -> None:
    outcome = {"tool": "rm", "tool_success": True, "result": None}
    events = [
        asked("1-1"),
        asked("1-2"),
        event("approval_denied", "1-1", params_sha256="", reason="No."),
        event("tool_execution_started", "1-3", child_id="run/1-3"),
        event("tool_execution_started", "1-4", child_id="run/1-4"),
        event("tool_execution_completed", "1-4", outcome=outcome),
    ]

    assert still_open(events) == [events[1], events[3]]
