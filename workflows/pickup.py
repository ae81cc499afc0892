"""Finds out why a call was not picked up, without ever failing or holding up its run."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import FailureError

from activities.interface import DESCRIBE_QUEUE, QueueQuestion
from surefoot.listeners import QueueListeners, why_not_picked_up
from workflows.payloads import UndecodableError, typed

# Workers of the run's own queue answer, and it may be just these that are busy or gone.
_PATIENCE = timedelta(seconds=5)


async def reason_not_picked_up(queue: str, *, tool_exec_id: str) -> str:
    """Say why nobody took a call; when that cannot be found out, only that nobody did.

    Raises:
        CancelledError: the run or the call was cancelled meanwhile.
    """
    question: workflow.ActivityHandle[RawValue] = workflow.start_activity(
        DESCRIBE_QUEUE,
        QueueQuestion(queue=queue),
        activity_id=f"{DESCRIBE_QUEUE}-{tool_exec_id}",
        result_type=RawValue,
        schedule_to_start_timeout=_PATIENCE,
        start_to_close_timeout=_PATIENCE,
        schedule_to_close_timeout=2 * _PATIENCE,
        retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=2),
        summary=queue,
    )
    try:
        await workflow.wait([question])
    except asyncio.CancelledError:
        question.cancel()
        question.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        raise
    try:
        return why_not_picked_up(typed(question.result(), QueueListeners))
    except (FailureError, UndecodableError):
        return why_not_picked_up(None)
