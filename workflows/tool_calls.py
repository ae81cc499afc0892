"""Carries out the tool calls of a turn: side by side, each as one activity, or one run, and never again."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import islice

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import FailureError

from activities.interface import ToolCallInput
from surefoot.admission import Admitted, Refused, admit
from surefoot.approvals import Denied
from surefoot.conversation import ToolCall, ToolMessage
from surefoot.definition import ToolDefinition
from surefoot.events import Event
from surefoot.failures import cancelled, denied, limit_reached
from surefoot.masking import masked_paths
from surefoot.summary import summarize_params
from workflows.answer_slots import AnswerSlots
from workflows.approvals import Approvals
from workflows.call_events import Named, ended_event, scheduled_event, started_event
from workflows.ending import Ending
from workflows.endings import ending_of
from workflows.pace import Pace
from workflows.sub_agents import Caller, SubAgents
from workflows.untrusted import Untrusted

_MAX_IDS_LISTED = 8
_ID_DIGITS = 12

KILL_GRACE = timedelta(seconds=5)
"""How much later than a tool's own timeout the server's limit comes: time to kill, drain and report."""


class ToolCalls:
    """The tool calls of one run; every event of an execution goes to `record`."""

    def __init__(
        self,
        record: Callable[[Event], None],
        pace: Pace,
        sub_agents: SubAgents,
        approvals: Approvals,
        unheld: Callable[[], Awaitable[None]],
        untrusted: Untrusted,
    ) -> None:
        """No call begins before `unheld` returns."""
        self._record = record
        self._pace = pace
        self._sub_agents = sub_agents
        self._approvals = approvals
        self._unheld = unheld
        self._untrusted = untrusted
        self._network: bool | None = None
        self._exclusive = asyncio.Lock()
        self._turn = 0
        self._open: dict[str, asyncio.Task[ToolMessage]] = {}
        self._ended_ids: set[str] = set()
        self._cancelled_ids: set[str] = set()

    async def run(
        self, calls: Sequence[ToolCall], definitions: Sequence[ToolDefinition], caller: Caller, *, turn: int
    ) -> tuple[ToolMessage, ...]:
        """Make the calls of one turn; the messages stand in the order the model asked."""
        self._turn, self._ended_ids, self._cancelled_ids = turn, set(), set()
        self._network = caller.run.network
        decisions = {f"{turn}-{n}": decision for n, decision in enumerate(admit(calls, definitions), 1)}
        self._approvals.begin_turn(caller.run, decisions, caller.untrusted)
        slots = AnswerSlots(decisions.values())
        self._sub_agents.begin_turn(caller, decisions)
        running: list[asyncio.Task[ToolMessage]] = []
        for tool_exec_id, decision in decisions.items():
            running.append(asyncio.create_task(self._carry_out(tool_exec_id, decision, slots)))
            self._open[tool_exec_id] = running[-1]
        try:
            return tuple(await asyncio.gather(*running))
        except (asyncio.CancelledError, FailureError):
            # `gather` ends with the first that was cancelled, while others are still being killed.
            await workflow.wait(running)
            raise

    def refuse(
        self, calls: Sequence[ToolCall], limit: str, *, turn: int, made: int = 0
    ) -> tuple[ToolMessage, ...]:
        """Answer calls that come after a limit, without making them; `made` others of the turn come first."""
        return tuple(
            self._ended(f"{turn}-{n}", call, Ending(limit_reached(call.tool, limit), None))
            for n, call in enumerate(calls, made + 1)
        )

    def cancel(self, tool_exec_id: str) -> None:
        """Stop one open call and answer it with TOOL_CANCELLED; a second time changes nothing."""
        if tool_exec_id in self._open and tool_exec_id not in self._cancelled_ids:
            self._cancelled_ids.add(tool_exec_id)
            self._open[tool_exec_id].cancel()

    def why_not_cancellable(self, tool_exec_id: str) -> str | None:
        """Say in a sentence why a call cannot be cancelled; None if it can."""
        if tool_exec_id in self._ended_ids or _turn_of(tool_exec_id) in range(1, self._turn):
            return f"tool call {tool_exec_id!r} has already ended"
        if not self._open:
            return "no tool call of this run is running"
        if tool_exec_id not in self._open:
            return f"there is no tool call {tool_exec_id!r}; running or waiting: {_listed(self._open)}"
        return None

    async def _carry_out(
        self, tool_exec_id: str, decision: Admitted | Refused, slots: AnswerSlots
    ) -> ToolMessage:
        match decision:
            case Refused(call=call, failure=failure):
                return self._ended(tool_exec_id, call, Ending(failure, None))
            case Admitted(call=call, definition=definition):
                try:
                    ending = await self._once_approved(tool_exec_id, decision, slots)
                except asyncio.CancelledError:
                    if workflow.cancellation_reason() is not None:
                        raise
                    # What had started was let go of, with an ending of its own.
                    ending = Ending(cancelled(call.tool), None)
                untrusted = self._untrusted.of(definition, ending)
                return self._ended(tool_exec_id, call, ending, untrusted=untrusted)

    async def _once_approved(self, tool_exec_id: str, call: Admitted, slots: AnswerSlots) -> Ending:
        match await self._approvals.decision(tool_exec_id, call):
            case Denied(reason=reason):
                return Ending(denied(call.definition.name, reason), None)
            case Admitted() as approved:
                return await self._in_turn(tool_exec_id, approved, slots)

    async def _in_turn(self, tool_exec_id: str, call: Admitted, slots: AnswerSlots) -> Ending:
        async with AsyncExitStack() as turns:
            if call.definition.exclusive:
                await turns.enter_async_context(self._exclusive)
            slot = await turns.enter_async_context(slots.slot())
            await self._unheld()
            if (reason := slots.spent) is not None:
                return Ending(limit_reached(call.definition.name, reason), None)
            ending = await self._execute(tool_exec_id, call)
            slots.count(ending, slot)
            return ending

    async def _execute(self, tool_exec_id: str, call: Admitted) -> Ending:
        if (agent := call.definition.agent) is not None:
            return await self._sub_agents.execute(tool_exec_id, call, agent)
        info = workflow.info()
        definition = call.definition
        queue = definition.executor_queue or info.task_queue
        self._record(scheduled_event(tool_exec_id, call))
        execution: workflow.ActivityHandle[RawValue] = workflow.start_activity(
            definition.name,
            ToolCallInput(
                tool=definition.name,
                params=call.params,
                call_id=f"{info.workflow_id}/{tool_exec_id}",
                timeout_seconds=call.timeout.total_seconds(),
                network=self._network,
            ),
            activity_id=tool_exec_id,
            task_queue=queue,
            result_type=RawValue,
            schedule_to_start_timeout=definition.pickup_timeout,
            start_to_close_timeout=call.timeout + KILL_GRACE,
            heartbeat_timeout=definition.heartbeat_timeout,
            retry_policy=RetryPolicy(maximum_attempts=1),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=summarize_params(call.params, masked_paths(definition)),
        )
        return await ending_of(call, execution, queue=queue, pace=self._pace)

    def _ended(
        self, tool_exec_id: str, call: ToolCall, ending: Ending, *, untrusted: bool = False
    ) -> ToolMessage:
        self._open.pop(tool_exec_id, None)
        self._ended_ids.add(tool_exec_id)
        named = Named(tool_exec_id=tool_exec_id, call_id=call.id, tool=call.tool, time=workflow.now())
        if ending.start is not None and ending.start.child_id is None:
            self._record(started_event(ending.start, **named))
        started = ending.start is not None
        self._record(ended_event(ending.outcome, started=started, untrusted=untrusted, **named))
        if untrusted:
            self._untrusted.read(call.tool, tool_exec_id)
        return ToolMessage(call_id=call.id, tool=call.tool, outcome=ending.outcome, untrusted=untrusted)


def _turn_of(tool_exec_id: str) -> int:
    turn, _, number = tool_exec_id.partition("-")
    return int(turn) if turn.isdecimal() and number.isdecimal() and len(turn) < _ID_DIGITS else 0


def _listed(ids: Iterable[str]) -> str:
    first = [*islice(ids, _MAX_IDS_LISTED + 1)]
    return ", ".join([*first[:_MAX_IDS_LISTED], *(["…"] if len(first) > _MAX_IDS_LISTED else [])])
