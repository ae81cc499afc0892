"""Runs that cannot go on: their workflow task fails, is tried again, and fails again."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import Client
from temporalio.client import WorkflowExecution as ListedRun
from temporalio.converter import DataConverter
from temporalio.service import RPCError, RPCStatusCode

from surefoot.run import WORKFLOW
from surefoot.summary import shorten
from workers.encryption.failures import message_of
from workers.encryption.keys import KeyUnknownError

MAX_RUNS = 200
"""How many runs are looked at; a server can hold any number."""

MAX_REASON_CHARACTERS = 300

_SIDE_BY_SIDE = 10
_LATEST_EVENTS = 100
# A worker that is killed leaves one such behind, and nothing is wrong.
_TIMED_OUT_ATTEMPTS = 3

_RUNNING = f"WorkflowType = '{WORKFLOW}' AND ExecutionStatus = 'Running'"
# Set by servers from 1.30 on, after some failures in a row; others do not know it.
_REPORTED = f"{_RUNNING} AND TemporalReportedProblems IS NOT NULL"


@dataclass(frozen=True)
class WedgedRun:
    """An open run whose workflow task keeps failing."""

    workflow_id: str
    run_id: str
    attempts: int
    """How often the task was tried."""
    reason: str
    """What it failed with, on one line."""
    lacks_key: bool = False
    """Whether that is that its workers do not have the key of what it is told."""


@dataclass(frozen=True)
class RunsLookedAt:
    """What a look at the open runs of a namespace found."""

    wedged: tuple[WedgedRun, ...]
    runs: tuple[ListedRun, ...]
    """The open runs that were looked at."""
    more: bool
    """Whether there are open runs that were not looked at."""

    @property
    def looked_at(self) -> int:
        """How many were."""
        return len(self.runs)


@dataclass(frozen=True)
class _Reason:
    text: str
    lacks_key: bool = False


async def find_wedged_runs(client: Client, *, limit: int = MAX_RUNS) -> RunsLookedAt:
    """Look at open runs of the client's namespace, those that the server itself reports first.

    Raises:
        RPCError: the server did not answer, or refused.
    """
    reported = [one async for one in _reported(client, limit)]
    latest = [one async for one in client.list_workflows(_RUNNING, limit=limit + 1)]
    open_runs = {one.run_id: one for one in [*reported, *latest]}
    chosen = list(open_runs.values())[:limit]
    gate = asyncio.Semaphore(_SIDE_BY_SIDE)

    async def look(run: ListedRun) -> WedgedRun | None:
        async with gate:
            return await _wedged(client, run)

    seen = await asyncio.gather(*map(look, chosen))
    return RunsLookedAt(
        tuple(one for one in seen if one),
        runs=tuple(chosen),
        more=len(open_runs) > len(chosen),
    )


async def _reported(client: Client, limit: int) -> AsyncIterator[ListedRun]:
    try:
        async for run in client.list_workflows(_REPORTED, limit=limit):
            yield run
    except RPCError as error:
        if error.status is not RPCStatusCode.INVALID_ARGUMENT:
            raise


async def _wedged(client: Client, run: ListedRun) -> WedgedRun | None:
    handle = client.get_workflow_handle(run.id, run_id=run.run_id)
    try:
        described = (await handle.describe()).raw_description
        if not described.HasField("pending_workflow_task") or described.pending_workflow_task.attempt <= 1:
            return None
        attempts = described.pending_workflow_task.attempt
        reason = await _reason(await _latest_events(client, run), attempts, client.data_converter)
    except RPCError as error:
        # It was listed a moment ago, and is gone.
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
    if reason is None:
        return None
    return WedgedRun(
        run.id,
        run.run_id,
        attempts,
        shorten(reason.text, MAX_REASON_CHARACTERS),
        lacks_key=reason.lacks_key,
    )


async def _latest_events(client: Client, run: ListedRun) -> Iterable[HistoryEvent]:
    answer = await client.workflow_service.get_workflow_execution_history_reverse(
        GetWorkflowExecutionHistoryReverseRequest(
            namespace=client.namespace,
            execution=WorkflowExecution(workflow_id=run.id, run_id=run.run_id),
            maximum_page_size=_LATEST_EVENTS,
        )
    )
    return answer.history.events


async def _reason(
    latest_first: Iterable[HistoryEvent], attempts: int, converter: DataConverter
) -> _Reason | None:
    """Say why a task is tried again, by its last ending; None if that may be chance."""
    for event in latest_first:
        match event.event_type:
            case EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
                failed = event.workflow_task_failed_event_attributes
                message = await message_of(failed.failure, converter)
                return _Reason(
                    message or WorkflowTaskFailedCause.Name(failed.cause), _lacks_key(failed.failure)
                )
            case EventType.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
                died = _Reason("its worker does not answer in time, or dies of it")
                return died if attempts >= _TIMED_OUT_ATTEMPTS else None
            case EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
                break
            case _:
                continue
    return _Reason("its latest events do not say why")


def _lacks_key(failure: Failure) -> bool:
    while failure.application_failure_info.type != KeyUnknownError.__name__:
        if not failure.HasField("cause"):
            return False
        failure = failure.cause
    return True
