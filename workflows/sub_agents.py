"""Carries out the calls of agents: each is a run of its own, a child that shares its caller's budget."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import FailureError

from surefoot import failures
from surefoot.admission import Admitted, Refused
from surefoot.child_run import child_details, child_id, child_run
from surefoot.events import Event
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import WORKFLOW, RunInput
from surefoot.shared_budget import NothingLeft, Share, child_limits, shares
from surefoot.spent import NOTHING_USED, Spent, Used
from surefoot.strict_json import most_values_of
from surefoot.sub_agent import SubAgent
from surefoot.summary import shorten_shown
from surefoot.untrusted import UntrustedSource
from workflows.attributes import first_attributes
from workflows.call_events import Named, scheduled_event, started_event
from workflows.child_endings import ChildEnding, answered, failed, not_begun
from workflows.ending import Ending, Start
from workflows.letting_go import let_go
from workflows.pace import Pace

CHILD_GRACE = timedelta(minutes=1)
"""How long a cancelled call waits for its run to end: longer than the run waits for its own tools."""


@dataclass(frozen=True)
class Caller:
    """The run that calls, and what it has spent when the calls of a turn begin."""

    run: RunInput
    spent: Spent
    untrusted: UntrustedSource | None = None
    """What it has read that nobody vouches for."""


@dataclass
class _Child:
    """A run that answers a call."""

    tool_exec_id: str
    call: Admitted
    id: str
    start: Start | None = None
    used: Used = NOTHING_USED
    """As far as it told."""
    untrusted: bool = False
    """Whether it says that it has read untrusted content."""


class SubAgents:
    """The agents that one run calls; events go to `record`, and what their runs used to `count`."""

    def __init__(self, record: Callable[[Event], None], pace: Pace, count: Callable[[Used], None]) -> None:
        self._record = record
        self._pace = pace
        self._count = count
        self._caller: Caller | None = None
        self._shares: Mapping[str, Share] = {}
        self._open: dict[str, _Child] = {}

    def begin_turn(self, caller: Caller, decisions: Mapping[str, Admitted | Refused]) -> None:
        """Divide what the caller has left among the agents that a turn calls; calls are named by their id."""
        agents = [name for name, decision in decisions.items() if _agent_of(decision) is not None]
        divided = shares(caller.run.limits, caller.spent, calls=len(decisions), agents=len(agents))
        self._caller, self._shares = caller, dict(zip(agents, divided, strict=True))

    def tell_used(self, run: str, used: Used) -> None:
        """Take note of what a run says that it used, before it ends as cancelled."""
        if run in self._open:
            self._open[run].used = used

    async def execute(self, tool_exec_id: str, call: Admitted, agent: SubAgent) -> Ending:
        """Make one call; the outcome is the run's, however it ends.

        Raises:
            CancelledError: only when the calling run itself was cancelled.
        """
        child = _Child(tool_exec_id, call, child_id(workflow.info().workflow_id, tool_exec_id))
        run = self._run_of(child, agent)
        if isinstance(run, ToolFailure):
            return Ending(run, None)
        self._record(scheduled_event(tool_exec_id, call))
        self._open[child.id] = child
        try:
            return await self._ending(child, run)
        finally:
            del self._open[child.id]
            self._count(child.used)

    def _run_of(self, child: _Child, agent: SubAgent) -> RunInput | ToolFailure:
        if (caller := self._caller) is None:
            raise AssertionError("no turn has begun")
        limits = child_limits(
            agent.limits,
            self._shares[child.tool_exec_id],
            caller=caller.run.limits,
            elapsed_seconds=caller.spent.at(workflow.now(), caller.spent.usage).elapsed_seconds,
        )
        if isinstance(limits, NothingLeft):
            reason = f"nothing is left of the {limits.limit}"
            return failures.limit_reached(child.call.definition.name, reason)
        return child_run(
            caller.run, child.call, agent, limits, workflow_id=child.id, untrusted=caller.untrusted
        )

    async def _ending(self, child: _Child, run: RunInput) -> Ending:
        execution = asyncio.create_task(self._execution(child, run))
        try:
            await workflow.wait([execution])
        except asyncio.CancelledError:
            await _until_begun(child, execution)
            await let_go(execution, CHILD_GRACE)
            if workflow.cancellation_reason() is not None:
                if execution.done():
                    _outcome(child, execution)
                raise
        if not execution.done():
            return Ending(failures.cancelled(child.call.definition.name), child.start)
        data = _data(execution)
        try:
            await self._pace.take(data)
        except asyncio.CancelledError:
            # An operator who cancels a call that has just ended comes too late: its answer counts.
            if workflow.cancellation_reason() is not None:
                raise
        outcome = _outcome(child, execution)
        return Ending(
            outcome,
            child.start,
            answer_bytes=len(data),
            answer_values=most_values_of(data),
            untrusted=child.untrusted,
        )

    async def _execution(self, child: _Child, run: RunInput) -> RawValue | None:
        caller_id, tool = workflow.info().workflow_id, child.call.definition.name
        handle = await workflow.start_child_workflow(
            WORKFLOW,
            run,
            id=child.id,
            result_type=RawValue,
            cancellation_type=workflow.ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
            parent_close_policy=workflow.ParentClosePolicy.REQUEST_CANCEL,
            # The timeline names a child by nothing else.
            static_summary=shorten_shown(f"{tool} • {run.prompt}"),
            static_details=child_details(caller_id, child.tool_exec_id, run, tool),
            search_attributes=first_attributes(run.agent_name) if run.search_attributes else None,
        )
        executor = f"{child.id} ({handle.first_execution_run_id})"
        child.start = Start(workflow.now().isoformat(), executor, child_id=child.id)
        named = Named(
            tool_exec_id=child.tool_exec_id, call_id=child.call.call.id, tool=tool, time=workflow.now()
        )
        self._record(started_event(child.start, **named))
        # None is what the SDK makes of a result without a payload, which no run of ours has.
        result: RawValue | None = await handle
        return result


async def _until_begun(child: _Child, execution: "asyncio.Task[RawValue | None]") -> None:
    """Wait for the server's word on a run that is being started: only then can it be waited for."""
    if child.start is None:
        with suppress(TimeoutError, asyncio.CancelledError):
            await workflow.wait_condition(
                lambda: child.start is not None or execution.done(),
                timeout=CHILD_GRACE,
                timeout_summary="grace for a run that is being started",
            )


def _outcome(child: _Child, execution: "asyncio.Task[RawValue | None]") -> ToolSuccess | ToolFailure:
    """Tell what a run that has ended came to, and note what it used."""
    try:
        raw = execution.result()
    except FailureError as error:
        if child.start is None:
            return not_begun(child.call, error, run=child.id)
        return _told(child, failed(child.call, error))
    except (RuntimeError, asyncio.CancelledError) as error:
        # The SDK's, for anything else that the server has against it.
        if child.start is None:
            return not_begun(child.call, error, run=child.id)
        raise
    return _told(child, answered(child.call, raw, run=child.id))


def _told(child: _Child, ending: ChildEnding) -> ToolSuccess | ToolFailure:
    child.used, child.untrusted = ending.used or child.used, ending.untrusted
    return ending.outcome


def _data(execution: "asyncio.Task[RawValue | None]") -> bytes:
    raw = None if execution.cancelled() or execution.exception() else execution.result()
    return raw.payload.data if raw is not None else b""


def _agent_of(decision: Admitted | Refused) -> SubAgent | None:
    return decision.definition.agent if isinstance(decision, Admitted) else None
