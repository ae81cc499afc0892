"""What somebody who watches is told of calls that wait for approval."""

from collections.abc import Callable, Iterator

from surefoot.ledger import Event, Ledger, reduce_event


class ApprovalNotice:
    """Says once of each call how to decide about it; `command` prints that of a name for a call."""

    def __init__(self, command: Callable[[str, str], str]) -> None:
        self._command = command
        self._ledger = Ledger()
        self._told: set[str] = set()

    def hear(self, event: Event) -> None:
        """Take note of an event."""
        # Nothing else of it is needed, and it stays small.
        self._ledger = Ledger(waiting=reduce_event(self._ledger, event).waiting)

    def due(self) -> Iterator[str]:
        """Give the lines that are due."""
        for question in self._ledger.waiting:
            if question.tool_exec_id not in self._told:
                self._told.add(question.tool_exec_id)
                call = question.tool_exec_id
                approve, deny = (self._command(name, call) for name in ("approve", "deny"))
                yield f"decide with `{approve}`, or `{deny} --reason TEXT`"
