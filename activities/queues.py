"""Asks the server who listens on a task queue."""

from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, DescribeTaskQueueResponse
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from activities.interface import DESCRIBE_QUEUE, QueueQuestion
from surefoot.listeners import RECENTLY, QueueListeners

_PATIENCE = timedelta(seconds=3)


class QueueActivities:
    """What a run may ask about the task queues of its namespace."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @activity.defn(name=DESCRIBE_QUEUE)
    async def describe_queue(self, question: QueueQuestion) -> QueueListeners:
        """Count who asked a queue for activities lately.

        Raises:
            RPCError: the server did not answer.
            ApplicationError: the server cannot tell, as the time-skipping one never can.
        """
        try:
            described = await self._described(question.queue)
        except RPCError as error:
            if error.status is not RPCStatusCode.UNIMPLEMENTED:
                raise
            raise ApplicationError(
                "this server cannot tell who listens on a task queue",
                non_retryable=True,
                category=ApplicationErrorCategory.BENIGN,
            ) from None
        seen = [poller.last_access_time.ToDatetime(tzinfo=UTC) for poller in described.pollers]
        return listeners_at(activity.info().started_time, seen)

    async def _described(self, queue: str) -> DescribeTaskQueueResponse:
        return await self._client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=self._client.namespace,
                task_queue=TaskQueue(name=queue),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
            ),
            timeout=_PATIENCE,
        )


def listeners_at(now: datetime, seen: list[datetime]) -> QueueListeners:
    """Sum up when each listener was last seen; `now` is the server's clock, as theirs is."""
    recent = sum(now - one <= RECENTLY for one in seen)
    silent = max((now - max(seen)).total_seconds(), 0) if seen else None
    return QueueListeners(recent=recent, silent_seconds=silent)
