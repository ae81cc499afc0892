"""Following a chain of runs from outside: watching adds nothing to their histories."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.exceptions import (
    ApplicationError,
    CancelledError,
    TerminatedError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
)
from temporalio.service import RPCError, RPCStatusCode

from surefoot.events import Event, RunFinished
from surefoot.run import WORKFLOW, RunResult
from surefoot.usage import Usage
from workers.chain import newest_run
from workers.ledger_reader import LedgerReader, Part, RunUnknownError
from workers.snapshot import Snapshot, has_ended, snapshot_from

PAUSE = timedelta(milliseconds=200)
SNAPSHOT_EVERY = timedelta(seconds=1)

PATIENCE = timedelta(seconds=5)
"""How long a worker may take to answer for its run, if it has to replay it first."""

SERVER_PATIENCE = timedelta(seconds=30)
"""How long the server may be away before the watcher gives up."""

_AWAY = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)


async def follow(
    client: Client, workflow_id: str, *, patience: timedelta = PATIENCE
) -> AsyncIterator[Event | Snapshot]:
    """Give every event of a chain's ledger once, in order, and in between what it is doing now.

    The last thing is a RunFinished, also for a run that was ended from outside and could not say so itself,
    and for one that nobody serves any more. A worker that does not answer within `patience` counts as away.

    Raises:
        RunUnknownError: there is no such run.
        RPCError: the server stopped answering.
    """
    newest = await find_run(client, workflow_id)
    reader = LedgerReader(client, workflow_id, patience=patience)
    clock = asyncio.get_running_loop().time
    looked_at = -SNAPSHOT_EVERY.total_seconds()
    while True:
        part = await reader.read(newest)
        for event in part.events:
            yield event
            if isinstance(event, RunFinished):
                return
        if part.more:
            continue
        if ended := has_ended(newest.status):
            yield await snapshot_from(newest, served=part.served, unreadable=part.unreadable)
            yield await ending_of(client, newest)
            return
        if clock() - looked_at >= SNAPSHOT_EVERY.total_seconds():
            looked_at = clock()
            newest = await _look_again(client, newest)
            yield await snapshot_from(newest, served=part.served, unreadable=part.unreadable)
            # What it said last may have come after it was asked: once it has ended, the rest is read at once.
            ended = has_ended(newest.status)
        if not ended:
            await asyncio.sleep(PAUSE.total_seconds())


async def told_so_far(
    client: Client, workflow_id: str, *, patience: timedelta = PATIENCE
) -> AsyncIterator[Event | Snapshot]:
    """Give every event of a chain's ledger up to now; then, if the run goes on, what it is doing.

    Raises:
        RunUnknownError: there is no such run.
        RPCError: the server stopped answering.
    """
    newest = await find_run(client, workflow_id)
    reader = LedgerReader(client, workflow_id, patience=patience)
    part = Part(more=True)
    while part.more:
        part = await reader.read(newest)
        for event in part.events:
            yield event
            if isinstance(event, RunFinished):
                return
    yield await snapshot_from(newest, served=part.served, unreadable=part.unreadable)
    if has_ended(newest.status):
        yield await ending_of(client, newest)


async def find_run(client: Client, workflow_id: str) -> WorkflowExecutionDescription:
    """Describe the newest run with an id.

    Raises:
        RunUnknownError: there is none, or it is a workflow of somebody else's.
        RPCError: the server did not answer.
    """
    try:
        newest = await newest_run(client, workflow_id)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise RunUnknownError(f"there is no run '{workflow_id}'") from None
        raise
    if newest.workflow_type != WORKFLOW:
        raise RunUnknownError(
            f"'{workflow_id}' is no run of Surefoot, but a workflow of the type '{newest.workflow_type}'"
        )
    return newest


async def _look_again(client: Client, newest: WorkflowExecutionDescription) -> WorkflowExecutionDescription:
    clock = asyncio.get_running_loop().time
    deadline = clock() + SERVER_PATIENCE.total_seconds()
    while True:
        try:
            return await newest_run(client, newest.id, newest)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise RunUnknownError(f"there is no run '{newest.id}' any more") from None
            if error.status not in _AWAY or clock() > deadline:
                raise
        await asyncio.sleep(PAUSE.total_seconds())


async def ending_of(client: Client, ended: WorkflowExecutionDescription) -> RunFinished:
    """Tell from what the server keeps how a run ended, where its ledger does not say it.

    Raises:
        RPCError: the server did not answer.
    """
    run: WorkflowHandle[Any, Any] = client.get_workflow_handle(ended.id, run_id=ended.run_id)
    time = ended.close_time or datetime.now(UTC)
    try:
        result = RunResult.model_validate(await run.result())
    except WorkflowFailureError as error:
        if isinstance(error.cause, CancelledError):
            return RunFinished(time=time, status="cancelled", usage=Usage())
        return RunFinished(time=time, status="failed", error=_reason(error.cause), usage=Usage())
    return RunFinished(
        time=time,
        status=result.status,
        answer=result.answer,
        output=result.output,
        error=result.reason,
        usage=result.usage,
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
