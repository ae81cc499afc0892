"""Who is there to pick up the calls of a run's fakes."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Self

from pydantic import JsonValue
from temporalio import activity
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.worker import Worker

from activities.interface import ToolCallInput
from surefoot.testing.clock import Clock
from surefoot.testing.performance import Performance
from surefoot.testing.plan import ExpectedCall, Plan

_LOOK_EVERY = timedelta(milliseconds=10)


class FakeExecutors:
    """The executors of a run's fakes, one for each of their queues; a context that they live in."""

    def __init__(self, client: Client, *, workflow_id: str, plan: Plan, clock: Clock) -> None:
        """Take part in one run."""
        self._client = client
        self._workflow_id = workflow_id
        self._plan = plan
        self._clock = clock
        self._listening: dict[str, AsyncExitStack] = {}
        self._waiting: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for waiting in self._waiting:
            waiting.cancel()
        ended = await asyncio.gather(*self._waiting, return_exceptions=True)
        for executor in self._listening.values():
            await executor.aclose()
        for error in ended:
            if isinstance(error, Exception):
                raise error

    async def attend(self, calls: Sequence[ExpectedCall]) -> None:
        """Listen on the queues of a turn's calls, but leave those where a call is to find nobody."""
        left_alone = {call.queue for call in calls if not call.picked_up}
        for queue in {call.queue for call in calls}:
            await (self._leave(queue) if queue in left_alone else self._listen(queue))
        for call in calls:
            if call.queue in left_alone:
                self._waiting.append(asyncio.create_task(self._wait_for_nobody(call)))

    async def _listen(self, queue: str) -> None:
        if queue not in self._listening:
            self._listening[queue] = AsyncExitStack()
            executor = Worker(self._client, task_queue=queue, activities=[self.run_tool])
            await self._listening[queue].enter_async_context(executor)

    async def _leave(self, queue: str) -> None:
        if queue in self._listening:
            await self._listening.pop(queue).aclose()

    async def _wait_for_nobody(self, call: ExpectedCall) -> None:
        while (scheduled_at := await self._scheduled_at(call.tool_exec_id)) is None:  # noqa: ASYNC110  no event tells
            await asyncio.sleep(_LOOK_EVERY.total_seconds())
        await self._clock.skip_to_just_before(scheduled_at + call.tool.definition.pickup_timeout)

    async def _scheduled_at(self, tool_exec_id: str) -> datetime | None:
        run = await self._client.get_workflow_handle(self._workflow_id).describe()
        for pending in run.raw_description.pending_activities:
            if pending.activity_id == tool_exec_id:
                return pending.scheduled_time.ToDatetime(tzinfo=UTC)
        return None

    @activity.defn(dynamic=True)
    async def run_tool(self, arguments: Sequence[RawValue]) -> JsonValue:
        """Carry out one call of a fake.

        Raises:
            ApplicationError: what an executor raises.
        """
        info = activity.info()
        call = ToolCallInput.model_validate_json(arguments[0].payload.data)
        performance = Performance(call, self._clock, report=self._plan.claim)
        return await performance.of(self._plan.told(info.activity_id))
