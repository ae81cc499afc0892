"""What the server keeps of a chain of runs, each of which continued as new: reading it needs no worker."""

from temporalio.api.history.v1 import WorkflowExecutionStartedEventAttributes
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowHistoryEventFilterType,
)
from temporalio.service import RPCError, RPCStatusCode

from surefoot.run import RunInput


async def newest_run(
    client: Client, workflow_id: str, known: WorkflowExecutionDescription | None = None
) -> WorkflowExecutionDescription:
    """Describe the newest run of the chain that has this id, or that `known` belongs to.

    An id may be used again once its run has ended; such a run is another chain.

    Raises:
        RPCError: the server did not answer, or knows no such run.
    """
    newest = await client.get_workflow_handle(workflow_id).describe()
    if known is None or first_run_id(newest) == first_run_id(known):
        return newest
    run_id = known.run_id
    while True:
        run = client.get_workflow_handle(workflow_id, run_id=run_id)
        described = await run.describe()
        if described.status != WorkflowExecutionStatus.CONTINUED_AS_NEW:
            return described
        only_the_end = WorkflowHistoryEventFilterType.CLOSE_EVENT
        async for event in run.fetch_history_events(event_filter_type=only_the_end):
            run_id = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id


async def runs_up_to(client: Client, workflow_id: str, run_id: str, *, after: str | None) -> list[str]:
    """Give the ids of a run and of those before it in its chain, the earliest first, down to `after`.

    The run `after` is not among them; without it the chain is followed to its beginning, or to the last
    run that the server has not yet deleted.

    Raises:
        RPCError: the server did not answer.
    """
    runs: list[str] = []
    earlier = run_id
    while earlier and earlier != after:
        begun = await beginning(client, workflow_id, earlier)
        if begun is None:
            break
        runs.append(earlier)
        earlier = begun.continued_execution_run_id
    return runs[::-1]


async def beginning(
    client: Client, workflow_id: str, run_id: str
) -> WorkflowExecutionStartedEventAttributes | None:
    """Give what a run was started with, or None if the server does not have the run any more.

    Raises:
        RPCError: the server did not answer.
    """
    run = client.get_workflow_handle(workflow_id, run_id=run_id)
    try:
        async for event in run.fetch_history_events(page_size=1):
            return event.workflow_execution_started_event_attributes
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
    return None


async def what_was_asked(client: Client, newest: WorkflowExecutionDescription) -> RunInput | None:
    """Give what a chain was started with, or what its newest run carries of it; None if that is unreadable.

    Raises:
        RPCError: the server did not answer.
    """
    first, latest = first_run_id(newest), newest.run_id or ""
    begun = await beginning(client, newest.id, first) or await beginning(client, newest.id, latest)
    if begun is None or not begun.input.payloads:
        return None
    try:
        (asked,) = await client.data_converter.decode([*begun.input.payloads][:1], [RunInput])
    except (RuntimeError, KeyError, ValueError):
        return None
    return asked


def first_run_id(description: WorkflowExecutionDescription) -> str:
    """Give the id of the run that the chain began with."""
    return description.raw_description.workflow_execution_info.first_run_id or description.run_id or ""
