"""Steering a run from outside: an update that it takes, or refuses in words."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import (
    Client,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from surefoot.wire import WireModel
from workers.following import find_run
from workers.snapshot import has_ended

PATIENCE = timedelta(seconds=10)
"""How long a worker may take to answer for its run, if it has to replay it first."""


class UpdateRefusedError(RuntimeError):
    """One sentence on an update that a run does not take."""


class UnansweredError(RuntimeError):
    """One sentence on an update that no worker has taken, and that one may still take."""


@dataclass(frozen=True)
class Update:
    """An update of a run, and what sentences about it call it."""

    name: str
    argument: WireModel
    refused: str
    """What a run does that refuses it: `is not paused`."""
    too_late: str
    """What a run does that has ended: `takes no more messages`."""
    thing: str
    """What was asked for: `the message`."""
    id: str | None = None
    """Makes it the same update however often it is sent to one run; made up if unset."""


async def update_run(
    client: Client, workflow_id: str, update: Update, *, patience: timedelta = PATIENCE
) -> None:
    """Have a run take an update; once this returns, its ledger tells of it.

    Raises:
        RunUnknownError: there is no such run.
        UpdateRefusedError: the run has ended, cannot go on, or says why it does not take it.
        UnansweredError: no worker answered for the run within `patience`.
        RPCError: the server did not answer.
    """
    newest = await find_run(client, workflow_id)
    if has_ended(newest.status):
        raise _ended(workflow_id, update)
    # By its workflow id alone: the run may continue as new at any moment.
    run: WorkflowHandle[Any, Any] = client.get_workflow_handle(workflow_id)
    try:
        # The SDK's overloads leave type arguments open.
        await run.execute_update(  # pyright: ignore[reportUnknownMemberType]
            update.name, update.argument, id=update.id, rpc_timeout=patience
        )
    except WorkflowUpdateFailedError as error:
        reason = f"the run '{workflow_id}' {update.refused}: {_reason(error.cause)}"
        raise UpdateRefusedError(reason) from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        raise UnansweredError(
            f"no worker answered for the run '{workflow_id}' within {patience.total_seconds():g}s; "
            f"{update.thing} may still be taken once somebody serves it: look before you send it again"
        ) from None
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise _ended(workflow_id, update) from None
        if error.status is RPCStatusCode.FAILED_PRECONDITION:
            # Its workflow task has failed and waits to be tried again.
            raise UpdateRefusedError(
                f"the run '{workflow_id}' cannot go on for now, and {update.thing} was not taken: "
                "`surefoot doctor` says why"
            ) from None
        raise


def _ended(workflow_id: str, update: Update) -> UpdateRefusedError:
    return UpdateRefusedError(f"the run '{workflow_id}' has ended, and {update.too_late}")


def _reason(cause: BaseException) -> str:
    return cause.message if isinstance(cause, ApplicationError) else str(cause)
