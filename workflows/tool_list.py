"""Asks the worker of a run what it can run, and where."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy

from activities.interface import LIST_TOOLS, ToolList, ToolListRequest
from surefoot.definition import ToolDefinition
from surefoot.run import RunInput
from workflows.payloads import typed


async def equipped(run: RunInput) -> tuple[RunInput, tuple[ToolDefinition, ...]]:
    """Give the run with what its worker says of where the model is asked and tools run, and its tools.

    Waits for a worker as long as there is none. A run that was started with its tools asks nobody.

    Raises:
        ActivityError: the worker has no tools for the run's agent.
        UndecodableError: the worker answered with something else.
    """
    if run.tools is not None:
        return run, run.tools
    listed = await _ask(run.agent, queue=None, activity_id=LIST_TOOLS)
    told = run.model_copy(update={"model_queue": listed.model_queue or run.model_queue})
    if listed.tools_queue is None:
        return _where(told, listed), listed.tools
    elsewhere = await _ask(run.agent, queue=listed.tools_queue, activity_id=f"{LIST_TOOLS}-elsewhere")
    return _where(told, elsewhere), elsewhere.tools


def _where(run: RunInput, listed: ToolList) -> RunInput:
    return run.model_copy(update={"working_directory": listed.working_directory or run.working_directory})


async def _ask(agent: str | None, *, queue: str | None, activity_id: str) -> ToolList:
    raw = await workflow.execute_activity(
        LIST_TOOLS,
        # Without an argument for the worker's own, as it always was.
        args=[] if agent is None else [ToolListRequest(agent=agent)],
        activity_id=activity_id,
        task_queue=queue,
        result_type=RawValue,
        start_to_close_timeout=timedelta(seconds=30),
        retry_policy=RetryPolicy(maximum_interval=timedelta(seconds=30)),
        summary="the tools of this run",
    )
    return typed(raw, ToolList)
