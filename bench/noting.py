"""Notes what a worker does beneath the code that it runs: queries that it sends, and runs that it replays."""

import time
from collections.abc import Sequence
from typing import Any

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.client import Interceptor, OutboundInterceptor, QueryWorkflowInput
from temporalio.converter import SerializationContext, StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails, WorkflowRunner
from temporalio.workflow import Info

from bench.notes import Notes


class NotingQueries(Interceptor):
    """Notes every query that a worker's own client sends: the cost of a conversation that it had not."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002  the SDK's name
        """Stand before the client."""
        return _Queries(next, self._notes)


class _Queries(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, notes: Notes) -> None:  # noqa: A002  the SDK's name
        super().__init__(next)
        self._notes = notes

    async def query_workflow(self, input: QueryWorkflowInput) -> Any:  # noqa: A002, ANN401  the SDK's
        began = time.monotonic()
        try:
            return await super().query_workflow(input)
        finally:
            self._notes.write("query", seconds=time.monotonic() - began)


class NotingRunner(WorkflowRunner):
    """Notes every run that begins in this worker's memory, be it new or replayed."""

    def __init__(self, runner: WorkflowRunner, notes: Notes) -> None:
        self._runner, self._notes = runner, notes

    def prepare_workflow(self, defn: Any) -> None:  # noqa: ANN401  private to the SDK
        """Prepare, as the runner does."""
        self._runner.prepare_workflow(defn)

    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        """Create one, as the runner does."""
        self._notes.write("instance")
        return _Instance(self._runner.create_instance(det), self._notes)

    def set_worker_level_failure_exception_types(self, types: Sequence[type[BaseException]]) -> None:
        """Pass on what fails a run."""
        self._runner.set_worker_level_failure_exception_types(types)


class _Instance(WorkflowInstance):
    """Notes how long it took to bring a run back, once it goes on."""

    def __init__(self, instance: WorkflowInstance, notes: Notes) -> None:
        self._instance, self._notes = instance, notes
        self._replayed_seconds = 0.0

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        began = time.perf_counter()
        completion = self._instance.activate(act)
        if act.is_replaying:
            self._replayed_seconds += time.perf_counter() - began
        elif self._replayed_seconds:
            self._notes.write("replayed", seconds=self._replayed_seconds)
            self._replayed_seconds = 0.0
        return completion

    def get_serialization_context(self, command_info: Any) -> SerializationContext | None:  # noqa: ANN401
        return self._instance.get_serialization_context(command_info)

    def get_external_store_context(self, command_info: Any) -> StorageDriverStoreContext:  # noqa: ANN401
        return self._instance.get_external_store_context(command_info)

    def get_info(self) -> Info:
        return self._instance.get_info()

    def get_thread_id(self) -> int | None:
        return self._instance.get_thread_id()
