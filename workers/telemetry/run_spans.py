"""The spans of one run: of itself, its turns and its tool executions, made of its ledger as each ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.util.types import AttributeValue
from temporalio import workflow

from activities.interface import LLM_TURN
from surefoot.conversation import ToolCall
from surefoot.events import (
    ApprovalGiven,
    Event,
    ModelReplied,
    RunFinished,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    TurnStarted,
)
from surefoot.masking import Masks, masked, masked_texts, shown_text, shown_value
from surefoot.run import RunInput
from surefoot.strict_json import encode_json
from workers.telemetry.exporting import SCOPE
from workers.telemetry.model_names import known_as, provider_of
from workers.telemetry.span_ids import Ids, given, span_id, trace_id
from workers.telemetry.trace_headers import context_of

Attributes = Mapping[str, AttributeValue]

_RUN = "run"


@dataclass
class _Turn:
    number: int
    started_at: datetime
    ended_at: datetime


class RunSpans:
    """Hears the events of a run; a span has the same ids whoever makes it, and none is made in a replay.

    A worker that goes on with the run knows from its history what has begun.
    """

    def __init__(
        self,
        provider: TracerProvider,
        parent: SpanContext | None,
        *,
        run: RunInput | None,
        started_at: datetime,
        content: bool,
    ) -> None:
        """Trace a run that began at `started_at`, as a part of what `parent` is about."""
        self._tracer = provider.get_tracer(SCOPE)
        self._chain = workflow.info().first_execution_run_id
        self._parent = parent
        self._run = run
        self._content = content
        self.started_at = started_at
        self._trace = parent.trace_id if parent else trace_id(self._chain)
        # Decided before its span is made, which is the last of all, for those that belong to it.
        sampled = provider.sampler.should_sample(
            context_of(parent), self._trace, self._name, SpanKind.INTERNAL, {}
        ).decision.is_sampled()
        self._flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
        self._turn: _Turn | None = None
        self._turns = 0
        self._calls: dict[str, ToolCall] = {}
        self._redact: Masks = {}
        self._scheduled: dict[str, datetime] = {}

    def hear(self, event: Event) -> None:
        """Make the spans of what ends with an event."""
        match event:
            case TurnStarted(turn=turn, time=time):
                self.end_turn()
                self._turn, self._turns = _Turn(turn, time, time), turn
            case ModelReplied(tool_calls=calls, redact=redact, time=time):
                self._calls, self._redact = {call.id: call for call in calls}, redact
                self._reach(time)
            case ApprovalGiven(call_id=call_id, params=dict() as params) if call_id in self._calls:
                self._calls[call_id] = self._calls[call_id].model_copy(update={"params": params})
            case ToolExecutionScheduled(tool_exec_id=tool_exec_id, time=time):
                self._scheduled[tool_exec_id] = time
            case ToolExecutionCompleted() | ToolExecutionFailed():
                self._end_execution(event)
                self._reach(event.time)
            case RunFinished():
                self._end_run(event)
            case _:
                pass

    def end_turn(self, error: str | None = None) -> None:
        """Make the span of the turn that has ended, if there is one."""
        if (turn := self._turn) is not None:
            self._turn = None
            self._make(
                f"turn {turn.number}",
                f"turn-{turn.number}",
                _RUN,
                (turn.started_at, turn.ended_at),
                {"surefoot.turn": turn.number},
                error,
            )

    def of_activity(self, kind: str, activity_id: str | None) -> SpanContext:
        """Give the span that an activity belongs to: its call's, its turn's, or the run's."""
        if activity_id in self._scheduled:
            return self._span(activity_id)
        if kind == LLM_TURN and self._turn is not None:
            return self._span(f"turn-{self._turn.number}")
        return self._span(_RUN)

    def of_child(self, workflow_id: str) -> SpanContext:
        """Give the span of the call that a run answers."""
        return self.of_activity("", workflow_id.rpartition("/")[2])

    @property
    def parent(self) -> SpanContext | None:
        """What the run, and those that go on with it, belong to."""
        return self._parent

    @property
    def _name(self) -> str:
        return f"invoke_agent {(self._run and self._run.agent_name) or SCOPE}"

    def _reach(self, time: datetime) -> None:
        if self._turn is not None:
            self._turn.ended_at = time

    def _end_execution(self, event: ToolExecutionCompleted | ToolExecutionFailed) -> None:
        name = event.tool_exec_id
        turn = "".join(takewhile(str.isdecimal, name))
        said: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.tool,
            "gen_ai.tool.call.id": event.call_id,
            "gen_ai.tool.type": "function",
            "surefoot.turn": int(turn),
            "surefoot.tool_exec_id": name,
            "surefoot.outcome": "success",
        }
        error = None
        if isinstance(event, ToolExecutionFailed):
            error = event.error.code
            said |= {"surefoot.outcome": error, "surefoot.acted": str(event.acted)}
        if self._content:
            said |= self._shown(event)
        since = self._scheduled.get(name, event.time)
        self._make(f"execute_tool {event.tool}", name, f"turn-{turn}", (since, event.time), said, error)
        self._scheduled.pop(name, None)

    def _shown(self, event: ToolExecutionCompleted | ToolExecutionFailed) -> dict[str, AttributeValue]:
        """Give what a call was about as people are shown it."""
        call, paths = self._calls.get(event.call_id), self._redact.get(event.tool, ())
        params = call.params if call else None
        result = shown_value(event.outcome.model_dump(mode="json"), masked_texts(params, paths))
        return {
            "gen_ai.tool.call.arguments": encode_json(shown_value(masked(params, paths))),
            "gen_ai.tool.call.result": encode_json(result),
        }

    def _end_run(self, event: RunFinished) -> None:
        error = "RUN_FAILED" if event.status == "failed" else None
        self._reach(event.time)
        self.end_turn(error)
        info = workflow.info()
        said: dict[str, AttributeValue] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": info.workflow_id,
            "gen_ai.usage.input_tokens": event.usage.input_tokens,
            "gen_ai.usage.output_tokens": event.usage.output_tokens,
            "surefoot.run_id": info.run_id,
            "surefoot.status": event.status,
            "surefoot.turns": self._turns,
        }
        if event.usage.cost is not None:
            said["surefoot.cost_dollars"] = float(event.usage.cost)
        if (run := self._run) is not None:
            said |= {
                "gen_ai.request.model": known_as(run.model),
                "gen_ai.provider.name": provider_of(run.model),
            }
            if run.agent_name:
                said["gen_ai.agent.name"] = run.agent_name
            if self._content:
                said |= {
                    "surefoot.prompt": shown_text(run.prompt, ()),
                    "surefoot.answer": shown_text(event.answer or "", ()),
                }
        self._make(self._name, _RUN, None, (self.started_at, event.time), said, error)

    def _make(
        self,
        name: str,
        key: str,
        parent: str | None,
        time: tuple[datetime, datetime],
        attributes: Attributes,
        error: str | None,
    ) -> None:
        if workflow.unsafe.is_replaying():
            return
        above = self._parent if parent is None else self._span(parent)
        with given(Ids(self._trace, span_id(self._chain, key))):
            span = self._tracer.start_span(
                name, context_of(above), attributes=attributes, start_time=_nanoseconds(time[0])
            )
        if error is not None:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(_nanoseconds(time[1]))

    def _span(self, key: str | None) -> SpanContext:
        number = span_id(self._chain, key or _RUN)
        return SpanContext(self._trace, number, is_remote=True, trace_flags=self._flags)


def _nanoseconds(time: datetime) -> int:
    return int(time.timestamp() * 1_000_000) * 1_000
