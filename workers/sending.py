"""Saying something to a run from outside."""

from datetime import timedelta

from temporalio.client import Client

from surefoot.run import SEND_MESSAGE_UPDATE, SendMessage
from workers.updates import PATIENCE, Update, update_run


async def send_message(
    client: Client, workflow_id: str, message: SendMessage, *, patience: timedelta = PATIENCE
) -> None:
    """Have a run take a message; once this returns, the model is told of it before its next turn.

    Raises:
        RunUnknownError: there is no such run.
        UpdateRefusedError: the run has ended, or says why it does not take it.
        UnansweredError: no worker answered for the run within `patience`.
        RPCError: the server did not answer.
    """
    await update_run(client, workflow_id, _update(message), patience=patience)


def _update(message: SendMessage) -> Update:
    return Update(
        SEND_MESSAGE_UPDATE,
        message,
        refused="does not take the message",
        too_late="takes no more messages",
        thing="the message",
    )
