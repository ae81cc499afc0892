"""Saying something to a run from outside."""

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

from surefoot.run import SEND_MESSAGE_UPDATE, SendMessage
from workers.following import find_run
from workers.snapshot import has_ended

PATIENCE = timedelta(seconds=10)
"""How long a worker may take to answer for its run, if it has to replay it first."""


class MessageRefusedError(RuntimeError):
    """One sentence on a message that a run does not take."""


class UnansweredError(RuntimeError):
    """One sentence on a message that no worker has taken, and that one may still take."""


async def send_message(
    client: Client, workflow_id: str, message: SendMessage, *, patience: timedelta = PATIENCE
) -> None:
    """Have a run take a message; once this returns, the model is told of it before its next turn.

    Raises:
        RunUnknownError: there is no such run.
        MessageRefusedError: the run has ended, or says why it does not take it.
        UnansweredError: no worker answered for the run within `patience`.
        RPCError: the server did not answer.
    """
    newest = await find_run(client, workflow_id)
    if has_ended(newest.status):
        raise MessageRefusedError(_ended(workflow_id))
    # By its workflow id alone: the run may continue as new at any moment.
    run: WorkflowHandle[Any, Any] = client.get_workflow_handle(workflow_id)
    try:
        # The SDK's overloads leave type arguments open.
        await run.execute_update(SEND_MESSAGE_UPDATE, message, rpc_timeout=patience)  # pyright: ignore[reportUnknownMemberType]
    except WorkflowUpdateFailedError as error:
        raise MessageRefusedError(
            f"the run '{workflow_id}' does not take the message: {_reason(error.cause)}"
        ) from None
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        raise UnansweredError(
            f"no worker answered for the run '{workflow_id}' within {patience.total_seconds():g}s; "
            "the message may still be taken once somebody serves it: look before you send it again"
        ) from None
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise MessageRefusedError(_ended(workflow_id)) from None
        raise


def _ended(workflow_id: str) -> str:
    return f"the run '{workflow_id}' has ended, and takes no more messages"


def _reason(cause: BaseException) -> str:
    return cause.message if isinstance(cause, ApplicationError) else str(cause)
