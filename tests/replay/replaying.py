"""Replays a recorded history with the code, sandbox and data converter of real workers."""

from typing import ClassVar

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowHistory
from temporalio.common import RawValue
from temporalio.worker import Interceptor, Replayer, UnsandboxedWorkflowRunner

from surefoot.ledger import Event
from surefoot.run import WORKFLOW, RunResult
from workers.worker import workflow_sandbox
from workflows.agent import Agent
from workflows.bugs import BUGS
from workflows.converter import DATA_CONVERTER

_NO_INPUT = RawValue(Payload())


async def problem_of(
    history: WorkflowHistory, *, code: type[Agent] = Agent, interceptor: Interceptor | None = None
) -> str | None:
    """Say why this code would not go on where the recorded run is; None if it would."""
    replayer = Replayer(
        workflows=[code],
        workflow_runner=workflow_sandbox(),
        data_converter=DATA_CONVERTER,
        interceptors=[interceptor] if interceptor else [],
    )
    replayed = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return None if replayed.replay_failure is None else str(replayed.replay_failure)


async def ledger_of(history: WorkflowHistory) -> list[Event]:
    """Give the ledger of a recorded run; its last events are in no payload."""
    _Telling.told = []
    replayer = Replayer(
        workflows=[_Telling], workflow_runner=UnsandboxedWorkflowRunner(), data_converter=DATA_CONVERTER
    )
    await replayer.replay_workflow(history)
    return _Telling.told


@workflow.defn(name=WORKFLOW, failure_exception_types=BUGS)
class _Telling(Agent):
    """The agent, whose ledger can be read after a replay."""

    told: ClassVar[list[Event]] = []

    @workflow.run
    async def run(self, raw_input: RawValue = _NO_INPUT) -> RunResult:
        return await super().run(raw_input)

    def _record(self, event: Event) -> None:
        self.told.append(event)
        super()._record(event)
