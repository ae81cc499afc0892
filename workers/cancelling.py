"""Stopping a run, or one of its calls, from outside."""

import asyncio
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from surefoot.run import CANCEL_TOOL_CALL_UPDATE, CancelToolCall
from workers.chain import newest_run
from workers.following import PAUSE, find_run
from workers.snapshot import has_ended
from workers.updates import PATIENCE, UnansweredError, Update, UpdateRefusedError, update_run


async def cancel_run(
    client: Client, workflow_id: str, *, reason: str = "", patience: timedelta = PATIENCE
) -> None:
    """Cancel a run and wait until it has ended: what runs in it is stopped first.

    Raises:
        RunUnknownError: there is no such run.
        UpdateRefusedError: the run has ended, or ended otherwise before it could be cancelled.
        UnansweredError: the run has not ended within `patience`; it will, once somebody serves it.
        RPCError: the server did not answer.
    """
    newest = await find_run(client, workflow_id)
    if has_ended(newest.status):
        raise _too_late(workflow_id)
    # By its workflow id alone: the run may continue as new at any moment.
    run: WorkflowHandle[Any, Any] = client.get_workflow_handle(workflow_id)
    try:
        await run.cancel(reason=reason)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise _too_late(workflow_id) from None
        raise
    try:
        async with asyncio.timeout(patience.total_seconds()):
            while not has_ended(newest.status):
                newest = await newest_run(client, workflow_id, newest)
                await asyncio.sleep(0 if has_ended(newest.status) else PAUSE.total_seconds())
    except TimeoutError:
        raise UnansweredError(
            f"the run '{workflow_id}' was asked to stop, and has not ended within "
            f"{patience.total_seconds():g}s; it does once what runs in it has been stopped, or once somebody "
            "serves it"
        ) from None
    if newest.status is not WorkflowExecutionStatus.CANCELED:
        raise UpdateRefusedError(f"the run '{workflow_id}' ended before it could be cancelled")


async def cancel_call(
    client: Client, workflow_id: str, tool_exec_id: str, *, patience: timedelta = PATIENCE
) -> None:
    """Stop one call of a run; the model is told TOOL_CANCELLED, and the run goes on.

    Raises:
        RunUnknownError: there is no such run.
        UpdateRefusedError: the run has ended, or has no such call that runs or waits.
        UnansweredError: no worker answered for the run within `patience`.
        RPCError: the server did not answer.
    """
    update = Update(
        CANCEL_TOOL_CALL_UPDATE,
        CancelToolCall(tool_exec_id=tool_exec_id),
        refused="does not cancel the call",
        too_late="its calls with it",
        thing="the request",
    )
    await update_run(client, workflow_id, update, patience=patience)


def _too_late(workflow_id: str) -> UpdateRefusedError:
    return UpdateRefusedError(f"the run '{workflow_id}' has ended, and cannot be cancelled")
