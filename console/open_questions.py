"""The calls that wait for approval in runs that somebody looks at."""

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.events import (
    ApprovalRequested,
    Event,
    ToolExecutionStarted,
)
from surefoot.ledger import Ledger, reduce_event, reduce_events


@dataclass(frozen=True)
class OpenQuestion:
    """A call that waits, and the run that it is of."""

    workflow_id: str
    asked: ApprovalRequested


class OpenQuestions:
    """Gathers them from the events of the runs."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[ApprovalRequested, ...]] = {}

    def hear(self, workflow_id: str, event: Event) -> None:
        """Take note of an event of a run."""
        # Nothing else of a ledger is needed, and this stays small.
        ledger = Ledger(waiting=self._waiting.get(workflow_id, ()))
        self._waiting[workflow_id] = reduce_event(ledger, event).waiting

    @property
    def all(self) -> tuple[OpenQuestion, ...]:
        """Give them, those of the run that was heard of first at the beginning."""
        return tuple(OpenQuestion(run, one) for run, asked in self._waiting.items() for one in asked)


def still_open(events: Sequence[Event]) -> list[Event]:
    """Give those of a run's events that somebody who begins to look has to hear of.

    They are the questions that nobody has decided about, and the beginnings of runs of agents that go on.
    """
    ledger = reduce_events(events)
    running = {one.tool_exec_id for one in ledger.executions if one.status == "started"}

    def is_open(event: Event) -> bool:
        match event:
            case ApprovalRequested():
                return event in ledger.waiting
            case ToolExecutionStarted():
                return event.tool_exec_id in running
            case _:
                return False

    return [event for event in events if is_open(event)]
