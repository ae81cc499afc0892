"""The ledger of a recorded run, as today's code tells it."""

from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import ExecuteWorkflowInput, WorkflowInboundInterceptor

from surefoot.events import Event
from surefoot.testing.replay import replay_problem
from tests.replay.changed_code import Around
from workflows.agent import Agent

_told: list[Event] = []


async def ledger_of(history: WorkflowHistory) -> tuple[Event, ...]:
    """Give the ledger, at most a page; its last events are in no payload."""
    _told.clear()
    assert await replay_problem(history, interceptors=[Around(_Telling)]) is None
    return tuple(_told)


class _Telling(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> object:  # noqa: A002
        try:
            return await super().execute_workflow(input)
        finally:
            agent: Agent = workflow.instance()
            _told.extend(agent.events(0).events)
