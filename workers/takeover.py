"""Serving the queues of unfinished embedded runs that nobody serves any more."""

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta

import structlog
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Worker

from activities.llm_turn import OpenModel
from activities.tools.discovery import Discovery, discover_tools, source_directory
from workers.served_queues import Claim, DamagedQueueError, ServedQueue, ServedQueues
from workers.settings import Settings
from workers.worker import build_worker

LOOK_EVERY = timedelta(seconds=1)

log: structlog.stdlib.BoundLogger = structlog.get_logger("surefoot.takeover")


@dataclass
class _Served:
    claim: Claim
    stack: AsyncExitStack


class QueueTakeover:
    """Looks every second for queues whose command is gone, and serves each until its run has ended."""

    def __init__(self, client: Client, settings: Settings, open_model: OpenModel) -> None:
        self._client = client
        self._settings = settings
        self._open_model = open_model
        self._queues = ServedQueues.of(settings)
        self._served: dict[str, _Served] = {}
        self._complained: set[str] = set()

    async def run(self) -> None:
        """Serve until cancelled; then let go of every queue, for the next command to serve."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(LOOK_EVERY.total_seconds())
        finally:
            await asyncio.gather(*(served.stack.aclose() for served in self._served.values()))

    async def _look(self) -> None:
        for queue in [queue for queue, served in self._served.items() if await self._is_over(served.claim)]:
            served = self._served.pop(queue)
            await served.stack.aclose()
            served.claim.forget()
            log.info("run ended", workflow_id=served.claim.served.workflow_id)
        listing = self._queues.listing()
        for damaged in listing.damaged:
            self._complain(str(damaged))
        for served in listing.queues:
            if served.queue not in self._served:
                await self._take(served)

    async def _take(self, wanted: ServedQueue) -> None:
        try:
            claim = self._queues.claim(wanted.queue)
        except DamagedQueueError as error:
            return self._complain(str(error))
        if claim is None:
            return None
        if await self._is_over(claim):
            return claim.forget()
        tools = tools_of(claim.served)
        if tools.errors:
            claim.release()
            return self._complain(
                f"the run {wanted.workflow_id} cannot go on, its tools cannot be loaded: {tools.errors[0]}"
            )
        stack = AsyncExitStack()
        stack.callback(claim.release)
        await stack.enter_async_context(self._worker(claim.served, tools))
        self._served[wanted.queue] = _Served(claim, stack)
        log.info("serving an unfinished run", workflow_id=wanted.workflow_id, task_queue=wanted.queue)
        return None

    def _worker(self, served: ServedQueue, tools: Discovery) -> Worker:
        return build_worker(
            self._client,
            queue=served.queue,
            tools=tools.tools,
            directory=served.working_directory,
            environment=os.environ,
            open_model=self._open_model,
            settings=self._settings,
        )

    async def _is_over(self, claim: Claim) -> bool:
        try:
            run = await self._client.get_workflow_handle(claim.served.workflow_id).describe()
        except RPCError as error:
            return error.status == RPCStatusCode.NOT_FOUND
        return run.status != WorkflowExecutionStatus.RUNNING

    def _complain(self, problem: str) -> None:
        if problem not in self._complained:
            self._complained.add(problem)
            log.error(problem)


def tools_of(served: ServedQueue) -> Discovery:
    """Find the tools that a remembered queue was served with."""
    return discover_tools([source_directory(source) for source in served.tool_directories])
