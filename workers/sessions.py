"""Talking to a session from outside: a message is taken once, however often it has to be sent."""

import asyncio
from datetime import timedelta

from temporalio.client import Client

from surefoot.inbox import CONTINUES_AS_NEW
from surefoot.run import END_SESSION_UPDATE, SEND_MESSAGE_UPDATE, EndSession, SendMessage
from workers.updates import PATIENCE, Update, UpdateRefusedError, update_run

_AGAIN_AFTER = timedelta(milliseconds=200)


async def tell_session(
    client: Client, workflow_id: str, message: SendMessage, *, patience: timedelta = PATIENCE
) -> None:
    """Have a session take a message; one with an id may be sent again when nobody answered.

    Raises:
        RunUnknownError: there is no such run.
        UpdateRefusedError: the session has ended, or says why it does not take it.
        UnansweredError: no worker answered for the session within `patience`.
        RPCError: the server did not answer.
    """
    update = Update(
        SEND_MESSAGE_UPDATE,
        message,
        refused="does not take the message",
        too_late="takes no more messages",
        thing="the message",
        id=message.message_id,
    )
    while True:
        try:
            return await update_run(client, workflow_id, update, patience=patience)
        except UpdateRefusedError as error:
            if CONTINUES_AS_NEW not in str(error):
                raise
        await asyncio.sleep(_AGAIN_AFTER.total_seconds())


async def end_session(client: Client, workflow_id: str, *, patience: timedelta = PATIENCE) -> None:
    """End a session that waits for its next message; raises as `tell_session` does."""
    update = Update(
        END_SESSION_UPDATE,
        EndSession(),
        refused="does not end",
        too_late="cannot be ended again",
        thing="its end",
    )
    await update_run(client, workflow_id, update, patience=patience)
