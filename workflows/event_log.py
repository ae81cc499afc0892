"""The ledger of a run as it grows, and the pages that watchers get of it."""

from collections.abc import Callable

from temporalio import workflow

from surefoot.events import (
    Event,
    ToolExecutionCompleted,
    ToolExecutionFailed,
)
from surefoot.pages import page_of
from surefoot.run import EventsPage
from workflows.run_log import log_event


class EventLog:
    """The events of this run; offsets and counts go on from the runs before it in the chain."""

    def __init__(self, hear: Callable[[Event], None]) -> None:
        """Each event also goes to `hear`."""
        self._hear = hear
        self._events: list[Event] = []
        self._first_offset = 0
        # Whoever rebuilt a run from its history asks when the run is not at work any more.
        self._continued_from = workflow.info().continued_run_id
        self.executions = 0
        """Tool executions that have ended."""
        self.failed = 0
        """Tool executions that ended without a valid answer."""

    @property
    def length(self) -> int:
        """How many events the whole chain has."""
        return self._first_offset + len(self._events)

    def go_on(self, length: int, *, executions: int, failed: int) -> None:
        """Go on where the run before this one ended."""
        self._first_offset, self.executions, self.failed = length, executions, failed

    def record(self, event: Event) -> None:
        """Add an event to the ledger, and to the worker's log what is worth a line there."""
        self._events.append(event)
        self.executions += isinstance(event, ToolExecutionCompleted | ToolExecutionFailed)
        self.failed += isinstance(event, ToolExecutionFailed)
        log_event(event)
        self._hear(event)

    def page(self, offset: int) -> EventsPage:
        """Give the events from `offset` on, as many as fit a page; none of an earlier run."""
        first = self._first_offset
        events = () if offset < first else page_of(self._events[offset - first :])
        end = offset + len(events)
        return EventsPage(
            events=events,
            next_offset=end,
            more=first <= end < self.length,
            first_offset=first,
            continued_from=self._continued_from,
        )
