"""Starting a run on a Temporal server."""

import secrets
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import WorkflowAlreadyStartedError

from surefoot.run import WORKFLOW, RunInput
from surefoot.static_details import static_details
from surefoot.summary import shorten_shown
from workers.search_attributes import settable_search_attributes
from workflows.attributes import first_attributes


class RunExistsError(RuntimeError):
    """One sentence on a workflow id that an unfinished run already has."""


def new_workflow_id() -> str:
    """Make up an id for a run; it says nothing of the prompt, since ids are readable by everyone."""
    return f"run-{secrets.token_hex(4)}"


async def start_run(
    client: Client, run: RunInput, *, workflow_id: str, queue: str
) -> WorkflowHandle[Any, Any]:
    """Start a run on a task queue, whoever serves it; it is found by search attributes where there are any.

    Raises:
        RunExistsError: an unfinished run has the id.
        RPCError: the server refused the run.
    """
    found = await settable_search_attributes(client)
    try:
        return await client.start_workflow(
            WORKFLOW,
            run.model_copy(update=found.of_a_run()),
            id=workflow_id,
            task_queue=queue,
            static_summary=shorten_shown(run.prompt) or "a session",
            static_details=static_details(run),
            search_attributes=first_attributes(run.agent_name) if found.usual else None,
        )
    except WorkflowAlreadyStartedError:
        raise RunExistsError(
            f"a run with the id '{workflow_id}' has not ended; choose another --workflow-id"
        ) from None
