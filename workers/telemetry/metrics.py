"""What is measured of runs and activities, in the SDK's own metrics: one endpoint tells of everything."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    ExecuteWorkflowInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from activities.interface import CompactInput, CompactResult, LlmTurnInput, LlmTurnResult
from surefoot.events import (
    Event,
    ModelReplied,
    RunFinished,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    TurnStarted,
)
from surefoot.usage import Usage
from workers.telemetry.model_names import known_as
from workflows.agent import Agent

UNKNOWN = "unknown"
"""Stands for every tool that a model made up, of which there is no end."""


class Measuring(Interceptor):
    """Counts what the runs of a worker come to, and how long its activities wait and what they cost."""

    def __init__(self) -> None:
        self._costs: defaultdict[str, float] = defaultdict(float)

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002  the SDK gives it by this name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Give what stands before each run."""
        return _MeasuredRun

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Give what stands before each activity."""
        return _MeasuredActivity(next, self._costs)


class RunMetrics:
    """Counts the events of one run; what is counted once is not counted again when the run is replayed."""

    def __init__(self, run: Agent) -> None:
        self._run = run
        self._turn_started: datetime | None = None
        meter = workflow.metric_meter()
        self._executions = meter.create_counter(
            "surefoot_tool_executions_total", "Tool calls that ended, by outcome."
        )
        self._runs = meter.create_counter("surefoot_runs_total", "Runs that ended, by status.")
        self._turns = meter.create_histogram_timedelta(
            "surefoot_turn_seconds", "How long the model took for a turn, with its retries."
        )

    def hear(self, event: Event) -> None:
        """Count one event of the ledger."""
        match event:
            case TurnStarted(time=time):
                self._turn_started = time
            case ModelReplied(time=time) if self._turn_started is not None:
                self._turns.record(time - self._turn_started)
            case ToolExecutionCompleted(tool=tool):
                self._executions.add(1, {"tool": tool, "outcome": "success"})
            case ToolExecutionFailed(tool=tool, error=error):
                known = tool if tool in self._run.tools else UNKNOWN
                self._executions.add(1, {"tool": known, "outcome": error.code})
            case RunFinished(status=status):
                self._runs.add(1, {"status": status})
            case _:
                pass


class _MeasuredRun(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401  the SDK's own
        agent: Agent = workflow.instance()
        agent.listeners.append(RunMetrics(agent).hear)
        return await super().execute_workflow(input)


class _MeasuredActivity(ActivityInboundInterceptor):
    def __init__(self, next: ActivityInboundInterceptor, costs: defaultdict[str, float]) -> None:  # noqa: A002
        super().__init__(next)
        self._costs = costs

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401  the SDK's own
        info = activity.info()
        waited = info.started_time - info.current_attempt_scheduled_time
        activity.metric_meter().create_histogram_timedelta(
            "surefoot_queue_wait_seconds", "How long an activity waited for a worker."
        ).record(max(waited, timedelta(0)))
        result = await super().execute_activity(input)
        match result, input.args:
            case LlmTurnResult(usage=usage), [LlmTurnInput(model=model), *_]:
                self._spend(usage, known_as(model))
            case CompactResult(usage=usage), [CompactInput(turn=LlmTurnInput(model=model)), *_]:
                self._spend(usage, known_as(model))
            case _:
                pass
        return result

    def _spend(self, usage: Usage, model: str) -> None:
        meter = activity.metric_meter()
        tokens = meter.create_counter("surefoot_tokens_total", "Tokens that models read and wrote.")
        tokens.add(usage.input_tokens, {"direction": "input", "model": model})
        tokens.add(usage.output_tokens, {"direction": "output", "model": model})
        if usage.cost is not None:
            self._costs[model] += float(usage.cost)
            # The SDK's counters count whole numbers. This one only grows, too, whatever it is called.
            cost = meter.create_gauge_float("surefoot_cost_dollars_total", "What models cost, in US dollars.")
            cost.set(self._costs[model], {"model": model})
