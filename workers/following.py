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

_QUERY_TIMEOUT = timedelta(seconds=5)
# A closed run whose ledger cannot be asked for in this many tries has no worker left to answer.
_LAST_TRIES = 2


class RunUnknownError(RuntimeError):
    """One sentence on a run that the server does not know."""


async def follow(run: WorkflowHandle[Any, Any]) -> AsyncIterator[Event | Snapshot]:
    """Give every event of the run's ledger once, in order, and in between what it is doing now.

    The last thing is a RunFinished, also for a run that was ended from outside and could not say so itself.

    Raises:
        RunUnknownError: there is no such run.
        RPCError: the server stopped answering.
    """
    offset, tries_left, looked_at, closed = 0, _LAST_TRIES, -SNAPSHOT_EVERY.total_seconds(), False
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
        if closed:
            tries_left -= 1
            if page or tries_left == 0:
                yield await _ending(run)
                return
        elif clock() - looked_at >= SNAPSHOT_EVERY.total_seconds():
            looked_at = clock()
            snapshot = await snapshot_of(run, served=page is not None)
            yield snapshot
            closed = snapshot.status != WorkflowExecutionStatus.RUNNING
        if not closed:
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


async def _ending(run: WorkflowHandle[Any, Any]) -> RunFinished:
    """Tell from what the server keeps how a closed run ended, for its ledger is nowhere to be asked for."""
    now = datetime.now(UTC)
    try:
        result = RunResult.model_validate(await run.result())
    except WorkflowFailureError as error:
        cancelled = isinstance(error.cause, CancelledError)
        reason = None if cancelled else _reason(error.cause)
        return RunFinished(
            time=now, status="cancelled" if cancelled else "failed", error=reason, usage=Usage()
        )
    return RunFinished(
        time=now, status=result.status, answer=result.answer, error=result.reason, usage=result.usage
    )


def _reason(cause: BaseException) -> str:
    match cause:
        case ApplicationError(message=message):
            return message
        case TerminatedError():
            return "the run was terminated"
        case TimeoutError():
            return "the run timed out"
        case _:
            return str(cause)
