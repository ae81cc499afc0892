"""Tells the run that called this one what it used, where its ending cannot."""

from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import FailureError

from surefoot.child_run import CHILD_USED_SIGNAL, ChildUsed
from surefoot.spent import Used


async def tell_parent(used: Used) -> None:
    """Signal the parent of this run; a parent that is gone needs not know."""
    info = workflow.info()
    if info.parent is None:
        return
    parent = workflow.get_external_workflow_handle(info.parent.workflow_id, run_id=info.parent.run_id)
    with suppress(FailureError):
        await parent.signal(CHILD_USED_SIGNAL, ChildUsed(workflow_id=info.workflow_id, used=used))
