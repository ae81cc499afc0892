"""Where a scenario plays: a real server, a directory, and the name that its run gets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from surefoot.conversation import AssistantMessage
from surefoot.run import WORKFLOW, RunInput, RunResult
from tests.workflows.agents import FakeTool, Replies, serving


@dataclass(frozen=True)
class Stage:
    """What one scenario plays on; its run has the scenario's name."""

    name: str
    client: Client
    directory: Path

    @property
    def other_queue(self) -> str:
        """A queue beside that of the run."""
        return f"{self.name}-elsewhere"

    async def start(self, queue: str, **run: object) -> WorkflowHandle[Any, RunResult]:
        """Start the run on a queue."""
        fields = {"prompt": "Do it.", "model": "replies", **run}
        return await self.client.start_workflow(
            WORKFLOW,
            RunInput.model_validate(fields),
            id=self.name,
            task_queue=queue,
            result_type=RunResult,
        )

    async def play(
        self,
        replies: Sequence[AssistantMessage | Exception],
        tools: Sequence[FakeTool] = (),
        **run: object,
    ) -> None:
        """Play the run to its end, with a model that says this and fake tools."""
        async with serving(self.client, Replies(replies), tools, queue=self.name) as queue:
            await ended(await self.start(queue, **run))


async def ended(run: WorkflowHandle[Any, Any]) -> None:
    """Wait for the end of a run, whatever it is."""
    try:
        await run.result()
    except WorkflowFailureError:
        return
