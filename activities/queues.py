"""Asks the server who listens on a task queue."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import PollerInfo, TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode

from activities.interface import DESCRIBE_QUEUE, QueueQuestion
from surefoot.listeners import RECENTLY, QueueListeners

_PATIENCE = timedelta(seconds=3)
_ACTIVITIES = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY


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
            pollers = await pollers_of(self._client, question.queue, _ACTIVITIES, within=_PATIENCE)
        except RPCError as error:
            if error.status is not RPCStatusCode.UNIMPLEMENTED:
                raise
            raise ApplicationError(
                "this server cannot tell who listens on a task queue",
                non_retryable=True,
                category=ApplicationErrorCategory.BENIGN,
            ) from None
        seen = [poller.last_access_time.ToDatetime(tzinfo=UTC) for poller in pollers]
        return listeners_at(activity.info().started_time, seen)


async def pollers_of(
    client: Client, queue: str, kind: TaskQueueType.ValueType, *, within: timedelta | None = None
) -> Sequence[PollerInfo]:
    """Give who asked a queue for tasks of a kind within the last five minutes.

    Raises:
        RPCError: the server did not answer, or cannot tell.
    """
    described = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
        ),
        timeout=within,
    )
    return described.pollers


def listeners_at(now: datetime, seen: list[datetime]) -> QueueListeners:
    """Sum up when each listener was last seen; `now` is the server's clock, as theirs is."""
    recent = sum(now - one <= RECENTLY for one in seen)
    silent = max((now - max(seen)).total_seconds(), 0) if seen else None
    return QueueListeners(recent=recent, silent_seconds=silent)
