"""Replays a recorded history with the code, sandbox and data converter of real workers."""

from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    Replayer,
    WorkflowInboundInterceptor,
)

from surefoot.ledger import Event
from tests.replay.changed_code import Around
from workers.worker import workflow_sandbox
from workflows.agent import Agent
from workflows.converter import DATA_CONVERTER


async def problem_of(history: WorkflowHistory, *, around: Interceptor | None = None) -> str | None:
    """Say why today's code, with this around it, would not go on where that run is; None if it would."""
    replayer = Replayer(
        workflows=[Agent],
        workflow_runner=workflow_sandbox(),
        data_converter=DATA_CONVERTER,
        interceptors=[around] if around else [],
    )
    replayed = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return None if replayed.replay_failure is None else str(replayed.replay_failure)


async def ledger_of(history: WorkflowHistory) -> tuple[Event, ...]:
    """Give the ledger of a recorded run, at most a page; its last events are in no payload."""
    _told.clear()
    assert await problem_of(history, around=Around(_Telling)) is None
    return tuple(_told)


_told: list[Event] = []


class _Telling(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> object:  # noqa: A002
        try:
            return await super().execute_workflow(input)
        finally:
            agent: Agent = workflow.instance()
            _told.extend(agent.events(0).events)
