"""The sandbox that workflows run in: the SDK's, entered only to run them."""

from dataclasses import dataclass

from temporalio.bridge.proto.workflow_activation import WorkflowActivation
from temporalio.bridge.proto.workflow_completion import WorkflowActivationCompletion
from temporalio.converter import SerializationContext, StorageDriverStoreContext
from temporalio.worker import WorkflowInstance, WorkflowInstanceDetails
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions
from temporalio.workflow import Info

# What is passed through is imported once for all runs: else each would import it anew.
_CONTRACT = ("surefoot", "activities", "pydantic", "jsonschema_rs")
_OUR_WORKFLOWS = ("workflows",)


def workflow_sandbox(*, strict: bool = False) -> SandboxedWorkflowRunner:
    """Give the sandbox that every worker of runs needs.

    A strict one also holds our own workflows to the SDK's restrictions. That is for tests: it imports them
    anew for each run, which takes as long as a turn.
    """
    passed_through = _CONTRACT if strict else (*_CONTRACT, *_OUR_WORKFLOWS)
    return _Sandbox(restrictions=SandboxRestrictions.default.with_passthrough_modules(*passed_through))


@dataclass(frozen=True)
class _Sandbox(SandboxedWorkflowRunner):
    def create_instance(self, det: WorkflowInstanceDetails) -> WorkflowInstance:
        return _Instance(super().create_instance(det))


class _Instance(WorkflowInstance):
    """A run that says nothing of its payloads' contexts.

    The SDK asks for them several times for each payload, and enters the sandbox every time: a third of what a
    worker spends on a turn. Only a converter that depends on a context would need one.
    """

    def __init__(self, sandboxed: WorkflowInstance) -> None:
        self._sandboxed = sandboxed

    def activate(self, act: WorkflowActivation) -> WorkflowActivationCompletion:
        return self._sandboxed.activate(act)

    def get_serialization_context(self, command_info: object) -> SerializationContext | None:  # noqa: ARG002
        return None

    def get_external_store_context(self, command_info: object) -> StorageDriverStoreContext:  # noqa: ARG002
        return StorageDriverStoreContext(target=None)

    def get_info(self) -> Info:
        return self._sandboxed.get_info()

    def get_thread_id(self) -> int | None:
        return self._sandboxed.get_thread_id()
