"""How much of a run's history the answers of one turn may fill."""

from surefoot.sizes import (
    MAX_ANSWER_BYTES,
    MAX_CALLS_IN_FLIGHT,
    MAX_HISTORY_BYTES,
    MAX_TURN_ANSWERS_BYTES,
    count,
)


class AnswerRoom:
    """Counts a turn's answers against the room they have; a call in flight has room for a whole answer.

    `slots` is how many calls may be in flight from the start: what is in flight and what has been answered
    never fill more than the history has left.
    """

    def __init__(self, history_bytes: int) -> None:
        """Begin a turn of a run whose history has this size."""
        left = max(MAX_HISTORY_BYTES - history_bytes, 0)
        self.slots = min(MAX_CALLS_IN_FLIGHT, left // MAX_ANSWER_BYTES)
        self._room_bytes = min(MAX_TURN_ANSWERS_BYTES, self.slots * MAX_ANSWER_BYTES // 2)
        self._spent_bytes = 0
        self._slots_kept = 0

    def add(self, answer_bytes: int) -> bool:
        """Count an answer, and tell whether the slot of its call is free for another one.

        Each whole mebibyte of answers keeps the slot of one call.
        """
        self._spent_bytes += answer_bytes
        if self._slots_kept < min(self._spent_bytes // MAX_ANSWER_BYTES, self.slots // 2):
            self._slots_kept += 1
            return False
        return True

    @property
    def spent(self) -> str | None:
        """Say in a phrase why no further call can be made; None while one can."""
        if self._room_bytes == 0:
            return "the history of this run is full; answer with what you have"
        if self._spent_bytes >= self._room_bytes:
            return f"this turn's answers fill {count(self._room_bytes)} already; ask for less at once"
        return None
