"""Reading the slices of a run's state: from its worker, or made anew of its ledger."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle, WorkflowQueryFailedError
from temporalio.service import RPCError, RPCStatusCode

from surefoot.reducer import Reducer
from surefoot.run import SLICES_QUERY
from surefoot.slices import Slice
from workers.following import find_run, told_so_far
from workers.snapshot import Snapshot
from workflows.slices import Slices


class SlicesUnreadableError(RuntimeError):
    """One sentence on slices that nobody can tell."""


async def ask_for_slices(client: Client, workflow_id: str, *, patience: timedelta) -> Mapping[str, Slice]:
    """Give what the reducers of the run's worker keep, by name.

    Raises:
        RunUnknownError: there is no such run.
        SlicesUnreadableError: no worker answered within `patience`.
        RPCError: the server did not answer.
    """
    await find_run(client, workflow_id)
    run: WorkflowHandle[Any, Any] = client.get_workflow_handle(workflow_id)
    try:
        return await run.query(SLICES_QUERY, result_type=dict[str, Slice], rpc_timeout=patience)
    except WorkflowQueryFailedError as error:
        raise SlicesUnreadableError(f"the worker of the run '{workflow_id}' cannot tell: {error}") from None
    except RPCError as error:
        if error.status is RPCStatusCode.UNAVAILABLE:
            raise
        raise SlicesUnreadableError(f"no worker answers for the run '{workflow_id}'") from None


async def make_slices(
    client: Client, workflow_id: str, reducers: Sequence[Reducer], *, patience: timedelta
) -> Mapping[str, Slice]:
    """Give what these reducers make of the whole ledger of a run up to now; it needs no worker.

    Raises:
        RunUnknownError: there is no such run.
        SlicesUnreadableError: another release wrote the run's history, and no worker answers for it.
        RPCError: the server did not answer.
    """
    slices = Slices(reducers)
    async for seen in told_so_far(client, workflow_id, patience=patience):
        if not isinstance(seen, Snapshot):
            slices.add(seen)
        elif seen.unreadable is not None:
            raise SlicesUnreadableError(seen.unreadable)
    return slices.told()
