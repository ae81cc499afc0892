"""Deciding about a call that waits for approval, from outside of its run."""

from datetime import timedelta

from temporalio.client import Client

from surefoot.decision_token import Asking
from surefoot.events import ApprovalRequested
from surefoot.ledger import Ledger, reduce_event
from surefoot.run import APPROVE_UPDATE, DENY_UPDATE, Approve, Deny
from workers.authority_key import VALIDITY, AuthorityKey
from workers.following import find_run, told_so_far
from workers.snapshot import Snapshot
from workers.updates import Update, update_run


async def questions_of(client: Client, workflow_id: str) -> tuple[ApprovalRequested, ...]:
    """Give the calls of a run that wait for approval, as its ledger has them.

    Raises:
        RunUnknownError: there is no such run.
        RPCError: the server did not answer.
    """
    ledger = Ledger()
    async for told in told_so_far(client, workflow_id):
        if not isinstance(told, Snapshot):
            ledger = reduce_event(ledger, told)
    return ledger.waiting


async def signed(
    client: Client,
    workflow_id: str,
    request: Approve | Deny,
    key: AuthorityKey,
    *,
    validity: timedelta = VALIDITY,
) -> Approve | Deny:
    """Give a decision with a token for the run that asks now; raises as `find_run` does."""
    newest = await find_run(client, workflow_id)
    token = key.token(request, Asking(workflow_id, newest.run_id), validity)
    return request.model_copy(update={"token": token})


async def decide_call(client: Client, workflow_id: str, request: Approve | Deny) -> None:
    """Have a decision taken; raises as `update_run` does."""
    match request:
        case Approve():
            await approve_call(client, workflow_id, request)
        case Deny():
            await deny_call(client, workflow_id, request)


async def approve_call(client: Client, workflow_id: str, request: Approve) -> None:
    """Let a call be made that waits for approval; raises as `update_run` does."""
    update = Update(
        APPROVE_UPDATE,
        request,
        refused="does not take the approval",
        too_late="nothing of it waits for approval",
        thing="the approval",
    )
    await update_run(client, workflow_id, update)


async def deny_call(client: Client, workflow_id: str, request: Deny) -> None:
    """Have a call not be made that waits for approval; raises as `update_run` does."""
    update = Update(
        DENY_UPDATE,
        request,
        refused="does not take the denial",
        too_late="nothing of it waits for approval",
        thing="the denial",
    )
    await update_run(client, workflow_id, update)
