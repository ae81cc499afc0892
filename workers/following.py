"""Following a run from outside, by query: watching adds nothing to its history."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import (
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.service import RPCError, RPCStatusCode

from surefoot.ledger import Event, RunFinished
from surefoot.run import EVENTS_QUERY, EventsPage
from surefoot.usage import Usage
from workers.snapshot import Snapshot, snapshot_of

PAUSE = timedelta(milliseconds=200)
SNAPSHOT_EVERY = timedelta(seconds=1)

_QUERY_TIMEOUT = timedelta(seconds=5)
# A closed run whose events cannot be asked for in this many tries has no worker left to answer.
_LAST_TRIES = 3


class RunUnknownError(RuntimeError):
    """One sentence on a run that the server does not know."""


async def follow(run: WorkflowHandle[Any, Any]) -> AsyncIterator[Event | Snapshot]:
    """Give every event of the run's ledger once, in order, and in between what it is doing now.

    The last thing is a RunFinished, also for a run that was ended from outside and could not say so itself.

    Raises:
        RunUnknownError: there is no such run.
        RPCError: the server stopped answering.
    """
    offset, tries_left, looked_at = 0, _LAST_TRIES, -SNAPSHOT_EVERY.total_seconds()
    clock = asyncio.get_running_loop().time
    while True:
        page = await _ask(run, offset)
        for event in page.events if page else ():
            yield event
            if isinstance(event, RunFinished):
                return
        offset = page.next_offset if page else offset
        if page and page.more:
            continue
        if clock() - looked_at >= SNAPSHOT_EVERY.total_seconds():
            looked_at = clock()
            snapshot = await snapshot_of(run, served=page is not None)
            yield snapshot
            if snapshot.status != WorkflowExecutionStatus.RUNNING:
                tries_left -= 1
                if tries_left == 0:
                    yield await _ended_from_outside(run, snapshot)
                    return
        await asyncio.sleep(PAUSE.total_seconds())


async def _ask(run: WorkflowHandle[Any, Any], offset: int) -> EventsPage | None:
    """Ask for the ledger from an offset on; None when no worker answered for the run."""
    try:
        return await run.query(EVENTS_QUERY, offset, result_type=EventsPage, rpc_timeout=_QUERY_TIMEOUT)
    except WorkflowQueryFailedError:
        return None
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise RunUnknownError(f"there is no run '{run.id}'") from None
        # Without a worker the query times out, or the server says at once that nobody can answer.
        return None


async def _ended_from_outside(run: WorkflowHandle[Any, Any], snapshot: Snapshot) -> RunFinished:
    status = "cancelled" if snapshot.status == WorkflowExecutionStatus.CANCELED else "failed"
    reason = f"the run ended as {snapshot.status.name.lower() if snapshot.status else 'unknown'}"
    try:
        await run.result()
    except WorkflowFailureError as error:
        reason = f"{reason}: {error.cause}"
    return RunFinished(time=datetime.now(UTC), status=status, error=reason, usage=Usage())
