"""The places of one turn's calls among those in flight, and the room that their answers have."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio import workflow

from surefoot.admission import Admitted, Refused
from surefoot.answer_room import MAX_FOREIGN_ANSWER_BYTES, AnswerRoom
from surefoot.sizes import MAX_ANSWER_BYTES
from workflows.ending import Ending


@dataclass
class AnswerSlot:
    """The place of one call among those in flight."""

    kept: bool = False
    """Whether its answer is so large that no other call gets the place."""


class AnswerSlots:
    """The slots of one turn's calls; answers that are large keep some of them."""

    def __init__(self, decisions: Iterable[Admitted | Refused]) -> None:
        """Begin a turn with these calls."""
        self._answers = answers = _answer_room(decisions)
        # Where not even one answer fits, calls pass here only to be told so.
        self._slots = asyncio.Semaphore(max(answers.slots, 1))

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[AnswerSlot]:
        """Wait for a place, and have it for as long as the context lasts."""
        await self._slots.acquire()
        slot = AnswerSlot()
        try:
            yield slot
        finally:
            if not slot.kept:
                self._slots.release()

    @property
    def spent(self) -> str | None:
        """Say in a phrase why no further call can be made; None while one can."""
        return self._answers.spent

    def count(self, ending: Ending, slot: AnswerSlot) -> None:
        """Count what became of the call that has this place."""
        taken_bytes = ending.answer_bytes or len(ending.outcome.model_dump_json().encode())
        slot.kept = not self._answers.add(taken_bytes, values=ending.answer_values)


def _answer_room(decisions: Iterable[Admitted | Refused]) -> AnswerRoom:
    history_bytes = workflow.info().get_current_history_size()
    # Nor does a run know them, when it answers as an agent that was called.
    foreign = any(
        isinstance(call, Admitted) and (call.definition.executor_queue or call.definition.agent)
        for call in decisions
    )
    largest_bytes = MAX_FOREIGN_ANSWER_BYTES if foreign else MAX_ANSWER_BYTES
    return AnswerRoom(history_bytes, largest_bytes=largest_bytes)
