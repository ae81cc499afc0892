"""How much of a run's history, and of its worker's memory, the answers of one turn may fill."""

from surefoot.sizes import (
    MAX_ANSWER_BYTES,
    MAX_CALLS_IN_FLIGHT,
    MAX_HISTORY_BYTES,
    MAX_TURN_ANSWERS_BYTES,
    count,
)

MAX_FOREIGN_ANSWER_BYTES = 2 * 1024 * 1024
"""What the server lets pass of an executor that is not ours, and so does not know our caps."""

MAX_TURN_ANSWERS_VALUES = 200_000
"""JSON values in all answers of one turn: Python's collector walks over every list and object of a run that
a worker remembers, and with some millions of them one walk takes longer than a workflow task may."""


class AnswerRoom:
    """Counts a turn's answers against the room they have; a call in flight has room for a whole answer.

    `slots` is how many calls may be in flight from the start: what is in flight and what has been answered
    never fill more than the history has left.
    """

    def __init__(self, history_bytes: int, *, largest_bytes: int = MAX_ANSWER_BYTES) -> None:
        """Begin a turn of a run whose history has this size, with calls whose answers may be this large."""
        left = max(MAX_HISTORY_BYTES - history_bytes, 0)
        self.slots = min(MAX_CALLS_IN_FLIGHT, left // largest_bytes)
        self._largest_bytes = largest_bytes
        self._room_bytes = min(MAX_TURN_ANSWERS_BYTES, self.slots * largest_bytes // 2)
        self._spent_bytes = 0
        self._spent_values = 0
        self._slots_kept = 0

    def add(self, answer_bytes: int, *, values: int = 0) -> bool:
        """Count an answer, and tell whether the slot of its call is free for another one.

        As often as the answers fill one slot's room, the slot of one call is kept.
        """
        self._spent_bytes += answer_bytes
        self._spent_values += values
        if self._slots_kept < min(self._spent_bytes // self._largest_bytes, self.slots // 2):
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
        if self._spent_values >= MAX_TURN_ANSWERS_VALUES:
            return (
                f"this turn's answers hold {MAX_TURN_ANSWERS_VALUES:,} values already; ask for less at once"
            )
        return None
