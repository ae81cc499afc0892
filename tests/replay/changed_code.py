"""Code of runs as it must not be, however the workflow is written: what surrounds it changes what it does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    StartActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)
from temporalio.workflow import ActivityHandle

from surefoot.run import WORKFLOW, RunResult
from workflows.agent import Agent
from workflows.bugs import BUGS


@dataclass(frozen=True)
class Around(Interceptor):
    """Has a worker or a replay surround every run with this."""

    inbound: type[WorkflowInboundInterceptor]

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002  the SDK's name
    ) -> type[WorkflowInboundInterceptor]:
        """Give it."""
        return self.inbound


class _OtherIds(WorkflowOutboundInterceptor):
    ids: Mapping[str, str] = {}

    def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002
        known = input.activity_id or ""
        return self.next.start_activity(replace(input, activity_id=self.ids.get(known, known)))


class _Swapped(_OtherIds):
    ids: Mapping[str, str] = {"1-1": "1-2", "1-2": "1-1"}


class SwappedCalls(WorkflowInboundInterceptor):
    """The first two calls of the first turn are scheduled in the other order."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Surround it."""
        super().init(_Swapped(outbound))


class _Renamed(_OtherIds):
    ids: Mapping[str, str] = {"turn-2": "model-2"}


class RenamedTurn(WorkflowInboundInterceptor):
    """The second turn has another activity id."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Surround it."""
        super().init(_Renamed(outbound))


class _Mistaken(WorkflowOutboundInterceptor):
    def start_activity(self, input: StartActivityInput) -> ActivityHandle[Any]:  # noqa: A002
        if input.activity_id == "turn-2":
            raise LookupError("there is no such place")
        return self.next.start_activity(input)


class Mistake(WorkflowInboundInterceptor):
    """A mistake, met when the model is asked for the second time."""

    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        """Surround it."""
        super().init(_Mistaken(outbound))


class EarlyEnd(WorkflowInboundInterceptor):
    """The run ends where it had gone on."""

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> object:  # noqa: A002
        """End at once."""
        return None


_NO_INPUT = RawValue(Payload())


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class Sleeping(Agent):
    """A run that begins with a timer where it began with an activity."""

    @workflow.run
    async def run(self, raw_input: RawValue = _NO_INPUT) -> RunResult:
        """Sleep first."""
        await workflow.sleep(timedelta(seconds=1))
        return await super().run(raw_input)
