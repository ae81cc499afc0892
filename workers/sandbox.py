"""The sandbox that holds workflows to what can be replayed: for tests and replays, not for workers."""

from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

# Without this every run would import the contract anew, too: 31 ms for each more.
_PASSED_THROUGH = ("surefoot", "activities", "pydantic", "jsonschema_rs", "cryptography")


def workflow_sandbox() -> SandboxedWorkflowRunner:
    """Give the SDK's sandbox with the contract imported once for all runs, and our workflows for each."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*_PASSED_THROUGH)
    return SandboxedWorkflowRunner(restrictions=restrictions)
