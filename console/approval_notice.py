"""What somebody who watches is told of calls that wait for approval."""

from collections.abc import Callable, Iterator

from console.open_questions import OpenQuestions
from console.signing import KEY_SETTING
from surefoot.events import ApprovalRequested, Event


def _every(_: ApprovalRequested) -> bool:
    return True


class ApprovalNotice:
    """Says once of each call how to decide about it."""

    def __init__(
        self,
        command: Callable[[str, str, str], str],
        about: Callable[[ApprovalRequested], bool] = _every,
    ) -> None:
        """`command` prints one for a run and its call; nothing is said of calls that are not `about`."""
        self._command = command
        self._about = about
        self._questions = OpenQuestions()
        self._told: set[tuple[str, str]] = set()

    def hear(self, workflow_id: str, event: Event) -> None:
        """Take note of an event of a run."""
        self._questions.hear(workflow_id, event)

    def due(self) -> Iterator[str]:
        """Give the lines that are due."""
        for question in self._questions.all:
            key = (question.workflow_id, question.asked.tool_exec_id)
            if key not in self._told and self._about(question.asked):
                self._told.add(key)
                approve, deny = (self._command(name, *key) for name in ("approve", "deny"))
                yield f"decide with `{approve}`, or `{deny} --reason TEXT`"
                if question.asked.signed:
                    yield f"it must be signed with the key that {KEY_SETTING} names"
