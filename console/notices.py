"""What stands in a run's way, for people: nobody serves it, or its model does not answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from activities.interface import COMPACT_CONTEXT, LLM_TURN
from console.durations import duration
from console.safe_text import safe_line, safe_text
from workers.snapshot import RunningActivity, Snapshot

UNSERVED_SNAPSHOTS = 2
"""So often nobody must have answered in a row: a worker may be only just starting, or busy for a moment."""

_MAX_REASON_CHARACTERS = 300
_ASKING = frozenset({LLM_TURN, COMPACT_CONTEXT})


@dataclass(frozen=True)
class Notices:
    """What stands in a run's way, by the looks at it so far."""

    unserved_in_a_row: int = 0
    served_before: bool = False
    retried: RunningActivity | None = None
    """The model's turn that is under way, if it has failed before."""
    unreadable: str | None = None
    """Why nobody can tell what happened."""

    @property
    def unserved(self) -> bool:
        """Whether no worker has answered for a while."""
        return self.unserved_in_a_row >= UNSERVED_SNAPSHOTS


def look(notices: Notices, snapshot: Snapshot) -> Notices:
    """Give the notices after one more look at the run."""
    retried = (one for one in snapshot.running if one.activity_type in _ASKING and one.attempt > 1)
    return Notices(
        unserved_in_a_row=0 if snapshot.served else notices.unserved_in_a_row + 1,
        served_before=notices.served_before or snapshot.served,
        retried=next(retried, None),
        unreadable=snapshot.unreadable,
    )


def notice_lines(notices: Notices, *, queue: str | None, now: datetime) -> Iterator[str]:
    """Print what stands in the way now, a line for each thing."""
    if notices.unserved:
        where = f" (queue {safe_text(queue)})" if queue else ""
        yield f"no worker answers for this run {'any more' if notices.served_before else 'yet'}{where}"
    if notices.unreadable is not None:
        yield notices.unreadable
    if notices.retried is not None:
        yield f"the model did not answer{_reason(notices.retried)}; {_attempt(notices.retried, now)}"


def fresh_lines(before: Notices, after: Notices, *, queue: str | None, now: datetime) -> Iterator[str]:
    """Print what has come in the way since, for a reader who keeps the lines from before."""
    news = Notices(
        unserved_in_a_row=0 if before.unserved else after.unserved_in_a_row,
        served_before=after.served_before,
        retried=None if _attempt_number(before) == _attempt_number(after) else after.retried,
        unreadable=None if before.unreadable else after.unreadable,
    )
    return notice_lines(news, queue=queue, now=now)


def _attempt_number(notices: Notices) -> tuple[str, int] | None:
    return None if notices.retried is None else (notices.retried.activity_id, notices.retried.attempt)


def _reason(turn: RunningActivity) -> str:
    return "" if turn.last_failure is None else f": {safe_line(turn.last_failure, _MAX_REASON_CHARACTERS)}"


def _attempt(turn: RunningActivity, now: datetime) -> str:
    if turn.next_attempt_at is None:
        return f"attempt {turn.attempt} is under way"
    wait = turn.next_attempt_at - now
    return f"attempt {turn.attempt} {'follows' if wait < timedelta(seconds=1) else f'in {duration(wait)}'}"
