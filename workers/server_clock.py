"""How far this machine's clock is from a server's."""

import asyncio
import secrets
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import PollActivityTaskQueueRequest
from temporalio.client import Client
from temporalio.service import RPCError

from activities.queues import pollers_of

_QUEUE = "surefoot-clock"
_WITHIN = timedelta(seconds=3)
_AGAIN_SECONDS = 0.05


async def server_clock(client: Client) -> timedelta | None:
    """Give how far the server's clock is ahead, negative if behind; None where it does not tell in time.

    No call of a server gives its time. But it notes when somebody last asked a task queue for work: this asks
    one that has none. The error is within the time that its answers take.

    Raises:
        RPCError: the server did not answer, or refused.
    """
    identity = f"clock-{secrets.token_hex(8)}"
    asked = datetime.now(UTC)
    asking = asyncio.create_task(_ask_for_work(client, identity))
    try:
        async with asyncio.timeout(_WITHIN.total_seconds()):
            while (noted := await _last_seen(client, identity)) is None:
                if asking.done() and (error := asking.exception()) is not None:
                    raise error
                await asyncio.sleep(_AGAIN_SECONDS)
    except TimeoutError:
        return None
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    return noted - asked


async def _ask_for_work(client: Client, identity: str) -> None:
    await client.workflow_service.poll_activity_task_queue(
        PollActivityTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=_QUEUE), identity=identity
        ),
        # The server refuses a poll that gives it less.
        timeout=timedelta(seconds=60),
    )


async def _last_seen(client: Client, identity: str) -> datetime | None:
    try:
        pollers = await pollers_of(client, _QUEUE, TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY, within=_WITHIN)
    except RPCError:
        return None
    seen = (one.last_access_time for one in pollers if one.identity == identity)
    return next((one.ToDatetime(tzinfo=UTC) for one in seen), None)
