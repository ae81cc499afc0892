"""Holding a run, letting it go on, and raising its limits, from outside."""

from temporalio.client import Client

from surefoot.run import PAUSE_UPDATE, RAISE_LIMIT_UPDATE, RESUME_UPDATE, Pause, RaiseLimit, Resume
from workers.updates import Update, update_run


async def pause_run(client: Client, workflow_id: str, request: Pause) -> None:
    """Have a run begin no turn and no tool call until it is resumed; raises as `update_run` does."""
    update = Update(
        PAUSE_UPDATE,
        request,
        refused="is not paused",
        too_late="cannot be paused",
        thing="the request",
    )
    await update_run(client, workflow_id, update)


async def resume_run(client: Client, workflow_id: str, request: Resume) -> None:
    """Let a run go on that is paused, or that waits for its model; raises as `update_run` does."""
    update = Update(
        RESUME_UPDATE,
        request,
        refused="does not resume",
        too_late="cannot be resumed",
        thing="the request",
    )
    await update_run(client, workflow_id, update)


async def raise_limits(client: Client, workflow_id: str, request: RaiseLimit) -> None:
    """Raise limits of a run from its next turn on; raises as `update_run` does."""
    update = Update(
        RAISE_LIMIT_UPDATE,
        request,
        refused="keeps its limits",
        too_late="keeps its limits",
        thing="the request",
    )
    await update_run(client, workflow_id, update)
