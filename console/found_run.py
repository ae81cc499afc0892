"""A run that somebody started, as a command finds it by its id."""

from dataclasses import dataclass

from temporalio.client import WorkflowExecutionDescription

from console.followed_run import FollowedRun
from surefoot.run import RunInput
from workers.chain import first_run_id, what_was_asked
from workers.following import find_run
from workers.temporal import Temporal


@dataclass(frozen=True)
class FoundRun:
    """A run on a server; `asked` is None where nobody can read what it was started with."""

    newest: WorkflowExecutionDescription
    asked: RunInput | None
    ui_url: str | None

    def named(self) -> FollowedRun:
        """Give what an output is told of the run."""
        return {
            "workflow_id": self.newest.id,
            "run_id": first_run_id(self.newest),
            "ui_url": self.ui_url,
            "model": self.asked.model if self.asked else "a model that cannot be told",
            "queue": self.newest.task_queue,
            "prompt": self.asked.prompt if self.asked else "",
        }


async def find(server: Temporal, workflow_id: str) -> FoundRun:
    """Find a run on a server.

    Raises:
        RunUnknownError: there is none.
        RPCError: the server did not answer.
    """
    newest = await find_run(server.client, workflow_id)
    asked = await what_was_asked(server.client, newest)
    # The link must work: the runs before the newest may be deleted.
    return FoundRun(newest, asked, server.run_url(workflow_id, newest.run_id or ""))
