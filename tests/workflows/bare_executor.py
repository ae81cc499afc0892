"""An executor without any SDK: it says to the server exactly what a test wants said."""

from collections.abc import Awaitable, Callable

from temporalio.api.common.v1 import Payloads
from temporalio.api.enums.v1 import TaskQueueKind
from temporalio.api.failure.v1 import Failure
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    PollActivityTaskQueueRequest,
    PollActivityTaskQueueResponse,
    RecordActivityTaskHeartbeatRequest,
    RespondActivityTaskCompletedRequest,
    RespondActivityTaskFailedRequest,
)
from temporalio.client import Client

Task = PollActivityTaskQueueResponse
Say = Callable[["BareExecutor", Task], Awaitable[object]]


class BareExecutor:
    """Takes calls from one queue."""

    def __init__(self, client: Client, queue: str) -> None:
        self._service = client.workflow_service
        self._namespace = client.namespace
        self._queue = TaskQueue(name=queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL)

    async def take(self) -> Task:
        """Wait for a call and take it."""
        while True:
            request = PollActivityTaskQueueRequest(
                namespace=self._namespace, task_queue=self._queue, identity="bare"
            )
            task = await self._service.poll_activity_task_queue(request)
            if task.task_token:
                return task

    async def complete(self, task: Task, result: Payloads | None) -> None:
        """Answer a call with these payloads, or with none at all."""
        await self._service.respond_activity_task_completed(
            RespondActivityTaskCompletedRequest(
                namespace=self._namespace, task_token=task.task_token, result=result, identity="bare"
            )
        )

    async def fail(self, task: Task, failure: Failure) -> None:
        """Fail a call."""
        await self._service.respond_activity_task_failed(
            RespondActivityTaskFailedRequest(
                namespace=self._namespace, task_token=task.task_token, failure=failure, identity="bare"
            )
        )

    async def beat(self, task: Task, details: Payloads) -> None:
        """Beat with these details."""
        await self._service.record_activity_task_heartbeat(
            RecordActivityTaskHeartbeatRequest(
                namespace=self._namespace, task_token=task.task_token, details=details, identity="bare"
            )
        )
