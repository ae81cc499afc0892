"""Following a run from outside, by query: watching adds nothing to its history."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

from temporalio.client import (
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
)
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
)
from temporalio.service import RPCError, RPCStatusCode

from surefoot.ledger import Event, RunFinished
from surefoot.run import EVENTS_QUERY, EventsPage, RunResult
from surefoot.usage import Usage
from workers.snapshot import Snapshot, snapshot_of

PAUSE = timedelta(milliseconds=200)
SNAPSHOT_EVERY = timedelta(seconds=1)

PATIENCE = timedelta(seconds=5)
"""How long a worker may take to answer for its run, if it has to replay it first."""


class RunUnknownError(RuntimeError):
    """One sentence on a run that the server does not know."""


async def follow(
    run: WorkflowHandle[Any, Any], *, patience: timedelta = PATIENCE
) -> AsyncIterator[Event | Snapshot]:
    """Give every event of the run's ledger once, in order, and in between what it is doing now.

    The last thing is a RunFinished, also for a run that was ended from outside and could not say so itself,
    and for one that nobody serves any more. A worker that does not answer within `patience` counts as away.

    Raises:
        RunUnknownError: there is no such run.
        RPCError: the server stopped answering.
    """
    offset, looked_at, closed = 0, -SNAPSHOT_EVERY.total_seconds(), None
    clock = asyncio.get_running_loop().time
    while True:
        page = await _ask(run, offset, patience)
        for event in page.events if page else ():
            yield event
            if isinstance(event, RunFinished):
                return
        offset = page.next_offset if page else offset
        if page and page.more:
            continue
        if closed:
            yield await _ending(run, closed)
            return
        if clock() - looked_at >= SNAPSHOT_EVERY.total_seconds():
            looked_at = clock()
            snapshot = await snapshot_of(run, served=page is not None)
            yield snapshot
            # What a run said last may have come after it was asked: once closed, it is asked once more.
            closed = snapshot.closed_at
        if not closed:
            await asyncio.sleep(PAUSE.total_seconds())


async def _ask(run: WorkflowHandle[Any, Any], offset: int, patience: timedelta) -> EventsPage | None:
    """Ask for the ledger from an offset on; None when no worker answered for the run."""
    try:
        return await run.query(EVENTS_QUERY, offset, result_type=EventsPage, rpc_timeout=patience)
    except WorkflowQueryFailedError:
        return None
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            raise RunUnknownError(f"there is no run '{run.id}'") from None
        # Without a worker the query times out, or the server says at once that nobody can answer.
        return None


async def _ending(run: WorkflowHandle[Any, Any], closed_at: datetime) -> RunFinished:
    """Tell from what the server keeps how a closed run ended, for its ledger does not say it."""
    try:
        result = RunResult.model_validate(await run.result())
    except WorkflowFailureError as error:
        if isinstance(error.cause, CancelledError):
            return RunFinished(time=closed_at, status="cancelled", usage=Usage())
        return RunFinished(time=closed_at, status="failed", error=_reason(error.cause), usage=Usage())
    return RunFinished(
        time=closed_at, status=result.status, answer=result.answer, error=result.reason, usage=result.usage
    )


def _reason(cause: BaseException) -> str:
    match cause:
        case ApplicationError(message=message):
            return message
        case TerminatedError(message=message):
            return f"the run was terminated: {message}"
        case TimeoutError():
            return "the run timed out"
        case _:
            return str(cause)
