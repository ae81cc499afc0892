"""Gives the runs of a worker its reducers."""

from collections.abc import Sequence
from typing import Any

from temporalio import workflow
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from surefoot.reducer import Reducer
from workflows.agent import Agent


class Reducing(Interceptor):
    """Tells each run which reducers there are, before it begins or is replayed (docs/decisions/021)."""

    def __init__(self, reducers: Sequence[Reducer]) -> None:
        self._reducers = tuple(reducers)

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002, ARG002  the SDK gives it by this name
    ) -> type[WorkflowInboundInterceptor] | None:
        """Give what stands before each run."""
        reducers = self._reducers

        class Inbound(WorkflowInboundInterceptor):
            async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002, ANN401  the SDK's own
                agent: Agent = workflow.instance()
                agent.slices.use(reducers)
                return await super().execute_workflow(input)

        return Inbound
