"""Has the runs and activities of a worker traced, as one trace for each run."""

from typing import Any, NoReturn

from opentelemetry.sdk.trace import TracerProvider
from temporalio import workflow
from temporalio.common import RawValue
from temporalio.worker import (
    ActivityInboundInterceptor,
    ContinueAsNewInput,
    ExecuteWorkflowInput,
    Interceptor,
    StartActivityInput,
    StartChildWorkflowInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from surefoot.run import RunInput
from workers.telemetry.activity_spans import ActivitySpans
from workers.telemetry.run_spans import RunSpans
from workers.telemetry.trace_headers import span_in, started_at_in, with_span
from workflows.agent import Agent
from workflows.payloads import UndecodableError, typed


class Tracing(Interceptor):
    """Makes spans; all that it adds to a history are headers (docs/decisions/031)."""

    def __init__(self, provider: TracerProvider, *, content: bool) -> None:
        self._provider = provider
        self._content = content

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Give what stands before each activity."""
        return ActivitySpans(next, self._provider, content=self._content)

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002  the SDK gives it by this name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Give what stands before each run."""
        provider, content = self._provider, self._content

        class Inbound(WorkflowInboundInterceptor):
            def init(self, outbound: WorkflowOutboundInterceptor) -> None:
                self._outbound = _Outbound(outbound)
                super().init(self._outbound)

            async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401  the SDK's own
                spans = _spans_of(input, provider, content=content)
                agent: Agent = workflow.instance()
                agent.listeners.append(spans.hear)
                self._outbound.spans = spans
                return await super().execute_workflow(input)

        return Inbound


class _Outbound(WorkflowOutboundInterceptor):
    spans: RunSpans | None = None

    def start_activity(self, input: StartActivityInput) -> workflow.ActivityHandle[Any]:  # noqa: A002
        if self.spans is not None:
            span = self.spans.of_activity(input.activity, input.activity_id)
            input.headers = with_span(input.headers, span)
        return super().start_activity(input)

    async def start_child_workflow(
        self,
        input: StartChildWorkflowInput,  # noqa: A002
    ) -> workflow.ChildWorkflowHandle[Any, Any]:
        if self.spans is not None:
            input.headers = with_span(input.headers, self.spans.of_child(input.id))
        return await super().start_child_workflow(input)

    def continue_as_new(self, input: ContinueAsNewInput) -> NoReturn:  # noqa: A002
        if (spans := self.spans) is not None:
            spans.end_turn()
            input.headers = with_span(input.headers, spans.parent, started_at=spans.started_at)
        super().continue_as_new(input)


def _spans_of(input: ExecuteWorkflowInput, provider: TracerProvider, *, content: bool) -> RunSpans:  # noqa: A002
    return RunSpans(
        provider,
        span_in(input.headers),
        run=_read(input),
        started_at=started_at_in(input.headers) or workflow.info().workflow_start_time,
        content=content,
    )


def _read(input: ExecuteWorkflowInput) -> RunInput | None:  # noqa: A002
    """Give what the run was started with; None for what it will refuse."""
    match input.args:
        case [RawValue() as raw, *_]:
            try:
                return typed(raw, RunInput)
            except UndecodableError:
                return None
        case _:
            return None
