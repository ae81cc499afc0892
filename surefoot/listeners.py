"""Who listens on a task queue, and what that says of a call which nobody took."""

from datetime import timedelta

from surefoot.wire import WireModel

RECENTLY = timedelta(seconds=70)
"""Who asked for work within this time listens: a worker that is free asks at least once a minute."""


class QueueListeners(WireModel):
    """Who asked for activities of one task queue; the server remembers it for five minutes."""

    recent: int
    """How many asked within `RECENTLY`."""
    silent_seconds: float | None = None
    """How long ago the last of them all asked; None when the server remembers nobody."""


def why_not_picked_up(listeners: QueueListeners | None) -> str:
    """Say in a phrase why no executor took a call; None stands for a server that cannot tell.

    A worker at capacity asks for nothing, and so does one that is gone: from outside they look alike.
    """
    within = f"{RECENTLY.total_seconds():.0f}s"
    match listeners:
        case None:
            return "no executor took it in time"
        case QueueListeners(recent=0, silent_seconds=None):
            return "nobody listens on this queue"
        case QueueListeners(recent=0, silent_seconds=silent):
            return (
                f"nobody has asked for work for {silent:.0f}s: its listeners are gone or busy with long calls"
            )
        case QueueListeners(recent=1):
            return f"its only listener is busy, or went away within the last {within}"
        case QueueListeners(recent=many):
            return f"all of its {many} listeners are busy, or went away within the last {within}"
