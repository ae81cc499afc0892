"""Carries out the tool calls of a turn: side by side, each as one activity that is never retried."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TypedDict, Unpack

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import FailureError

from activities.interface import ToolCallInput
from surefoot.admission import Admitted, Refused, admit
from surefoot.answer_room import MAX_FOREIGN_ANSWER_BYTES, AnswerRoom
from surefoot.conversation import ToolCall, ToolMessage
from surefoot.definition import ToolDefinition
from surefoot.failures import acted, cancelled, limit_reached
from surefoot.ledger import (
    Event,
    ExecutionError,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    ToolExecutionStarted,
)
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.sizes import MAX_ANSWER_BYTES
from surefoot.summary import summarize_params
from workflows.endings import Ending, Start, ending_of
from workflows.pace import Pace

_MAX_IDS_LISTED = 8

KILL_GRACE = timedelta(seconds=5)
"""How much later than a tool's own timeout the server's limit comes: time to kill, drain and report."""


class ToolCalls:
    """The tool calls of one run; every event of an execution goes to `record`."""

    def __init__(self, record: Callable[[Event], None], pace: Pace) -> None:
        self._record = record
        self._pace = pace
        self._exclusive = asyncio.Lock()
        self._open: dict[str, asyncio.Task[ToolMessage]] = {}
        self._ended_ids: set[str] = set()
        self._cancelled_ids: set[str] = set()

    async def run(
        self, calls: Sequence[ToolCall], definitions: Sequence[ToolDefinition], *, turn: int
    ) -> tuple[ToolMessage, ...]:
        """Make the calls of one turn; the messages stand in the order the model asked."""
        decisions = admit(calls, definitions)
        room = _Room(_answer_room(decisions))
        running: list[asyncio.Task[ToolMessage]] = []
        for n, decision in enumerate(decisions, 1):
            tool_exec_id = f"{turn}-{n}"
            running.append(asyncio.create_task(self._carry_out(tool_exec_id, decision, room)))
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
        if tool_exec_id in self._ended_ids:
            return f"tool call {tool_exec_id!r} has already ended"
        if not self._open:
            return "no tool call of this run is running"
        if tool_exec_id not in self._open:
            return f"there is no tool call {tool_exec_id!r}; running or waiting: {_listed(self._open)}"
        return None

    async def _carry_out(self, tool_exec_id: str, decision: Admitted | Refused, room: "_Room") -> ToolMessage:
        match decision:
            case Refused(call=call, failure=failure):
                return self._ended(tool_exec_id, call, Ending(failure, None))
            case Admitted(call=call):
                try:
                    ending = await self._in_turn(tool_exec_id, decision, room)
                except asyncio.CancelledError:
                    if workflow.cancellation_reason() is not None:
                        raise
                    # What had started was let go of, with an ending of its own.
                    ending = Ending(cancelled(call.tool), None)
                return self._ended(tool_exec_id, call, ending)

    async def _in_turn(self, tool_exec_id: str, call: Admitted, room: "_Room") -> Ending:
        async with AsyncExitStack() as turns:
            if call.definition.exclusive:
                await turns.enter_async_context(self._exclusive)
            slot = await turns.enter_async_context(room.slot())
            if (reason := room.answers.spent) is not None:
                return Ending(limit_reached(call.definition.name, reason), None)
            ending = await self._execute(tool_exec_id, call)
            room.count(ending, slot)
            return ending

    async def _execute(self, tool_exec_id: str, call: Admitted) -> Ending:
        info = workflow.info()
        definition = call.definition
        queue = definition.executor_queue or info.task_queue
        self._record(
            ToolExecutionScheduled(
                time=workflow.now(), tool_exec_id=tool_exec_id, call_id=call.call.id, tool=definition.name
            )
        )
        execution: workflow.ActivityHandle[RawValue] = workflow.start_activity(
            definition.name,
            ToolCallInput(
                tool=definition.name,
                params=call.params,
                call_id=f"{info.workflow_id}/{tool_exec_id}",
                timeout_seconds=call.timeout.total_seconds(),
            ),
            activity_id=tool_exec_id,
            task_queue=queue,
            result_type=RawValue,
            schedule_to_start_timeout=definition.pickup_timeout,
            start_to_close_timeout=call.timeout + KILL_GRACE,
            heartbeat_timeout=definition.heartbeat_timeout,
            retry_policy=RetryPolicy(maximum_attempts=1),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            summary=summarize_params(call.params),
        )
        return await ending_of(call, execution, queue=queue, pace=self._pace)

    def _ended(self, tool_exec_id: str, call: ToolCall, ending: Ending) -> ToolMessage:
        self._open.pop(tool_exec_id, None)
        self._ended_ids.add(tool_exec_id)
        named = _Named(tool_exec_id=tool_exec_id, call_id=call.id, tool=call.tool, time=workflow.now())
        if ending.start is not None:
            self._record(_started(ending.start, **named))
        self._record(_ended(ending.outcome, started=ending.start is not None, **named))
        return ToolMessage(call_id=call.id, tool=call.tool, outcome=ending.outcome)


@dataclass
class _Slot:
    """The place of one call among those in flight."""

    kept: bool = False
    """Whether its answer is so large that no other call gets the place."""


class _Room:
    """The slots of one turn's calls; answers that are large keep some of them."""

    def __init__(self, answers: AnswerRoom) -> None:
        self.answers = answers
        # Where not even one answer fits, calls pass here only to be told so.
        self._slots = asyncio.Semaphore(max(answers.slots, 1))

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[_Slot]:
        await self._slots.acquire()
        slot = _Slot()
        try:
            yield slot
        finally:
            if not slot.kept:
                self._slots.release()

    def count(self, ending: Ending, slot: _Slot) -> None:
        taken_bytes = ending.answer_bytes or len(ending.outcome.model_dump_json().encode())
        slot.kept = not self.answers.add(taken_bytes, values=ending.answer_values)


def _answer_room(decisions: Iterable[Admitted | Refused]) -> AnswerRoom:
    history_bytes = workflow.info().get_current_history_size()
    foreign = any(isinstance(call, Admitted) and call.definition.executor_queue for call in decisions)
    largest_bytes = MAX_FOREIGN_ANSWER_BYTES if foreign else MAX_ANSWER_BYTES
    return AnswerRoom(history_bytes, largest_bytes=largest_bytes)


def _listed(ids: Iterable[str]) -> str:
    first = [*islice(ids, _MAX_IDS_LISTED + 1)]
    return ", ".join([*first[:_MAX_IDS_LISTED], *(["…"] if len(first) > _MAX_IDS_LISTED else [])])


class _Named(TypedDict):
    tool_exec_id: str
    call_id: str
    tool: str
    time: datetime


def _started(start: Start, **named: Unpack[_Named]) -> ToolExecutionStarted:
    return ToolExecutionStarted(started_at=_time(start.started_at), executor=start.executor, **named)


def _ended(
    outcome: ToolSuccess | ToolFailure, *, started: bool, **named: Unpack[_Named]
) -> ToolExecutionCompleted | ToolExecutionFailed:
    match outcome:
        case ToolSuccess():
            return ToolExecutionCompleted(outcome=outcome, **named)
        case ToolFailure():
            error = ExecutionError(message=outcome.error, code=outcome.error_code)
            return ToolExecutionFailed(
                outcome=outcome, error=error, acted=acted(outcome, started=started), **named
            )


def _time(text: str | None) -> datetime | None:
    """Read what an executor said; a time without a zone counts as UTC, and what is no time as none."""
    try:
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time
