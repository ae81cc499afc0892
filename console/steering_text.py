"""What operators did to a run, and a model that is away, as people read it."""

from pydantic import JsonValue

from console.safe_text import safe_line
from surefoot.events import (
    Event,
    LimitRaised,
    ModelUnavailable,
    RunPaused,
    RunResumed,
)

_MAX_NAME_CHARACTERS = 60
_MAX_REASON_CHARACTERS = 500

SteeringEvent = RunPaused | ModelUnavailable | RunResumed | LimitRaised


def steering_event(event: Event) -> SteeringEvent | None:
    """Give the event if it is about steering; None for any other."""
    return event if isinstance(event, RunPaused | ModelUnavailable | RunResumed | LimitRaised) else None


def steering_text(event: SteeringEvent) -> str:
    """Say on one line what was done, by whom and why: `paused by Ada: look at it first`."""
    match event:
        case RunPaused(reason=reason, sender=sender):
            return f"paused{_by(sender)}{_because(reason)}"
        case ModelUnavailable(reason=reason):
            return f"the run waits for its model{_because(reason)}"
        case RunResumed(sender=sender):
            return f"resumed{_by(sender)}"
        case LimitRaised(limits=limits, before=before, reason=reason, sender=sender):
            changes = ", ".join(
                f"{safe_line(name)} {_shown(before.get(name))} -> {_shown(limit)}"
                for name, limit in limits.items()
            )
            why = f" ({safe_line(reason, _MAX_REASON_CHARACTERS)})" if reason else ""
            return f"limit raised{_by(sender)}: {changes}{why}"


def _by(sender: str | None) -> str:
    return f" by {safe_line(sender, _MAX_NAME_CHARACTERS)}" if sender else ""


def _because(reason: str | None) -> str:
    return f": {safe_line(reason, _MAX_REASON_CHARACTERS)}" if reason else ""


def _shown(limit: JsonValue) -> str:
    match limit:
        case None:
            return "none"
        case int():
            return f"{limit:,}"
        case _:
            return safe_line(str(limit))
