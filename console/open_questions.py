"""The calls that wait for approval in runs that somebody looks at."""

from dataclasses import dataclass

from surefoot.ledger import ApprovalRequested, Event, Ledger, reduce_event


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
