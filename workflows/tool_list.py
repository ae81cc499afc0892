"""Asks the worker of a run what it can run."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy

from activities.interface import LIST_TOOLS, ToolList, ToolListRequest
from surefoot.definition import ToolDefinition
from workflows.payloads import typed


async def list_tools(agent: str | None) -> tuple[ToolDefinition, ...]:
    """Give the definitions of all tools of the run; waits for a worker as long as there is none.

    `agent` names the set of them that runs of an agent are given; None is the worker's own.

    Raises:
        ActivityError: the worker has no tools for such an agent.
        UndecodableError: the worker answered with something else.
    """
    raw = await workflow.execute_activity(
        LIST_TOOLS,
        # Without an argument for the worker's own, as it always was.
        args=[] if agent is None else [ToolListRequest(agent=agent)],
        activity_id=LIST_TOOLS,
        result_type=RawValue,
        start_to_close_timeout=timedelta(seconds=30),
        retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=30)),
        summary="the tools of this run",
    )
    return typed(raw, ToolList).tools
