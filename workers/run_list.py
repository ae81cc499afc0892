"""The runs of a namespace, as the server lists them: it needs no worker, and reads no history."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

from surefoot.attributes import Status
from surefoot.outcome import ErrorCode
from surefoot.run import WORKFLOW
from workers.encryption.failures import ENCRYPTED
from workers.search_attributes import Settable, settable_search_attributes
from workflows.payloads import UnreadableError

_AGENT = SearchAttributeKey.for_keyword("SurefootAgent")
_STATUS = SearchAttributeKey.for_keyword("SurefootStatus")
_TURNS = SearchAttributeKey.for_int("SurefootTurns")
_FAILURES = SearchAttributeKey.for_int("SurefootFailures")
_ERROR_CODE = SearchAttributeKey.for_keyword("SurefootLastErrorCode")
_ERROR_CODES = SearchAttributeKey.for_keyword_list("SurefootErrorCodes")
_COST = SearchAttributeKey.for_float("SurefootCost")

_DESCRIBED_AT_ONCE = 16

_RUNS = f"WorkflowType = '{WORKFLOW}' AND ExecutionStatus != 'ContinuedAsNew'"
_BY_SERVER: Mapping[Status, str] = MappingProxyType(
    {
        "running": "ExecutionStatus = 'Running'",
        "completed": "ExecutionStatus = 'Completed'",
        "failed": "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut')",
        "cancelled": "ExecutionStatus = 'Canceled'",
    }
)
_BY_ATTRIBUTES: Mapping[Status, str] = MappingProxyType(
    {
        **_BY_SERVER,
        "running": "ExecutionStatus = 'Running' AND (SurefootStatus = 'running' OR SurefootStatus IS NULL)",
        "waiting": "ExecutionStatus = 'Running' AND SurefootStatus = 'waiting'",
        "paused": "ExecutionStatus = 'Running' AND SurefootStatus = 'paused'",
        "completed": "ExecutionStatus = 'Completed' "
        "AND (SurefootStatus = 'completed' OR SurefootStatus IS NULL)",
        "limit_reached": "ExecutionStatus = 'Completed' AND SurefootStatus = 'limit_reached'",
    }
)


class NotListableError(RuntimeError):
    """One sentence on what a server cannot look for."""


@dataclass(frozen=True)
class Wanted:
    """Which runs to list; None is all."""

    status: Status | None = None
    agent: str | None = None
    failed: bool = False
    """Only those in which a tool call failed."""
    error_code: ErrorCode | None = None
    """Only those in which one failed so."""
    since: datetime | None = None
    """Only those that began at this time or later."""
    limit: int = 20


@dataclass(frozen=True)
class ListedRun:
    """A run as the server knows it; None where it does not."""

    workflow_id: str
    run_id: str
    status: Status
    started_at: datetime
    ended_at: datetime | None
    agent: str | None
    turns: int | None
    """While the run goes on, up to 25 behind, as are the numbers below."""
    failures: int | None
    last_error_code: str | None
    error_codes: tuple[str, ...]
    """Every code that a call failed with, as far as the server knows."""
    cost: float | None
    summary: str
    """The first words of the prompt."""


async def list_runs(client: Client, wanted: Wanted) -> tuple[ListedRun, ...]:
    """Give the runs of the client's namespace, the open ones first, of each kind the newest first.

    Raises:
        NotListableError: it takes search attributes, which the server does not have.
        RPCError: the server did not answer.
    """
    query = query_for(wanted, settable=await settable_search_attributes(client))
    found = [run async for run in client.list_workflows(query, limit=wanted.limit)]
    at_once = asyncio.Semaphore(_DESCRIBED_AT_ONCE)
    summaries = await asyncio.gather(*(_summary(client, run, at_once) for run in found))
    return tuple(_listed(run, summary) for run, summary in zip(found, summaries, strict=True))


def query_for(wanted: Wanted, *, settable: Settable) -> str:
    """Give the server's query; raises NotListableError."""
    attributes, conditions = settable.usual, [_RUNS]
    if wanted.status is not None:
        by_status = (_BY_ATTRIBUTES if attributes else _BY_SERVER).get(wanted.status)
        conditions.append(by_status or _without_attributes(f"the status {wanted.status}"))
    if wanted.agent is not None:
        conditions.append(_is_agent(wanted.agent) if attributes else _without_attributes("agents"))
    if wanted.failed:
        conditions.append("SurefootFailures > 0" if attributes else _without_attributes("failures"))
    if wanted.error_code is not None:
        found = f"SurefootErrorCodes = '{wanted.error_code}'"
        conditions.append(found if settable.error_codes else _without_attributes("error codes"))
    if wanted.since is not None:
        conditions.append(f"StartTime >= '{wanted.since.astimezone(UTC).isoformat()}'")
    return " AND ".join(conditions)


def _without_attributes(what: str) -> str:
    raise NotListableError(
        f"this server cannot look for {what}: its namespace does not have Surefoot's search attributes"
    )


def _is_agent(agent: str) -> str:
    if {"'", '"', "\\"} & set(agent):
        raise NotListableError("no agent is found by a name with quotes or backslashes")
    return f"SurefootAgent = '{agent}'"


async def _summary(client: Client, run: WorkflowExecution, at_once: asyncio.Semaphore) -> str:
    # The list does not have it.
    try:
        async with at_once:
            described = await client.get_workflow_handle(run.id, run_id=run.run_id).describe()
        return await described.static_summary() or ""
    except UnreadableError:
        return ENCRYPTED
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise
        return ""


def _listed(run: WorkflowExecution, summary: str) -> ListedRun:
    told = run.typed_search_attributes
    return ListedRun(
        workflow_id=run.id,
        run_id=run.run_id,
        status=_status(run.status, told.get(_STATUS)),
        started_at=run.start_time,
        ended_at=run.close_time,
        agent=told.get(_AGENT),
        turns=told.get(_TURNS),
        failures=told.get(_FAILURES),
        last_error_code=told.get(_ERROR_CODE),
        error_codes=tuple(told.get(_ERROR_CODES) or ()),
        cost=told.get(_COST),
        summary=summary,
    )


def _status(status: WorkflowExecutionStatus | None, told: str | None) -> Status:
    """The server knows whether a run has ended and how; only the run knows more."""
    match status, told:
        case WorkflowExecutionStatus.COMPLETED, _:
            return "limit_reached" if told == "limit_reached" else "completed"
        case WorkflowExecutionStatus.CANCELED, _:
            return "cancelled"
        case (
            (
                WorkflowExecutionStatus.FAILED
                | WorkflowExecutionStatus.TERMINATED
                | WorkflowExecutionStatus.TIMED_OUT
            ),
            _,
        ):
            return "failed"
        case _, "waiting" | "paused":
            return told
        case _:
            return "running"


STATUSES: Sequence[Status] = tuple(_BY_ATTRIBUTES)
"""Every status that can be asked for."""
