"""What somebody who watches is told of calls that wait for approval."""

from collections.abc import Callable, Iterator

from console.open_questions import OpenQuestions
from surefoot.ledger import Event


class ApprovalNotice:
    """Says once of each call how to decide about it; `command` prints one for a run and its call."""

    def __init__(self, command: Callable[[str, str, str], str]) -> None:
        self._command = command
        self._questions = OpenQuestions()
        self._told: set[tuple[str, str]] = set()

    def hear(self, workflow_id: str, event: Event) -> None:
        """Take note of an event of a run."""
        self._questions.hear(workflow_id, event)

    def due(self) -> Iterator[str]:
        """Give the lines that are due."""
        for question in self._questions.all:
            key = (question.workflow_id, question.asked.tool_exec_id)
            if key not in self._told:
                self._told.add(key)
                approve, deny = (self._command(name, *key) for name in ("approve", "deny"))
                yield f"decide with `{approve}`, or `{deny} --reason TEXT`"
