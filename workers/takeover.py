"""Serving the queues of unfinished embedded runs that nobody serves any more."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from functools import partial

import structlog
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from activities.agents.agent_file import AgentFile, read_agent
from activities.tools.discovery import NO_ENVIRONMENT, Discovery, discover_tools, discover_tools_of
from workers.reducers import find_reducers
from workers.served_queues import Claim, DamagedQueueError, ServedQueue, ServedQueues
from workers.serving import Serving
from workers.snapshot import has_ended

LOOK_EVERY = timedelta(seconds=1)

log: structlog.stdlib.BoundLogger = structlog.get_logger("surefoot.takeover")


class QueueTakeover:
    """Looks every second for queues whose command is gone, and serves each until its run has ended."""

    def __init__(self, client: Client, serving: Serving) -> None:
        self._client = client
        self._with = serving
        self._queues = ServedQueues.of(serving.settings)
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._complained: set[str] = set()

    async def run(self) -> None:
        """Serve until cancelled; then let go of every queue, for the next command to serve."""
        try:
            while True:
                self._look()
                await asyncio.sleep(LOOK_EVERY.total_seconds())
        finally:
            for task in self._serving.values():
                task.cancel()
            await asyncio.gather(*self._serving.values(), return_exceptions=True)

    def _look(self) -> None:
        listing = self._queues.listing()
        for damaged in listing.damaged:
            self._complain(str(damaged))
        for served in listing.queues:
            if served.queue not in self._serving and (claim := self._claim(served)):
                task = asyncio.create_task(self._serve(claim))
                self._serving[served.queue] = task
                task.add_done_callback(partial(self._served, served))

    def _claim(self, served: ServedQueue) -> Claim | None:
        try:
            return self._queues.claim(served.queue)
        except DamagedQueueError as error:
            self._complain(str(error))
            return None

    def _served(self, served: ServedQueue, task: asyncio.Task[None]) -> None:
        del self._serving[served.queue]
        failure = None if task.cancelled() else task.exception()
        if failure is not None:
            # The queue is free again, and the next look takes it anew.
            log.error("serving failed", workflow_id=served.workflow_id, exc_info=failure)

    async def _serve(self, claim: Claim) -> None:
        ended: str | None = None
        try:
            ended = await self._end(claim.served) or await self._serve_to_its_end(claim.served)
        finally:
            if ended is None:
                claim.release()
            else:
                claim.forget()

    async def _serve_to_its_end(self, served: ServedQueue) -> str | None:
        """Serve a run and tell how it ended; None for one whose tools cannot be loaded."""
        # To look for MCP servers takes seconds, in which the calls of other runs would not beat.
        tools = await asyncio.to_thread(tools_of, served, self._with.environment)
        if tools.obstacles:
            self._complain(
                f"the run {served.workflow_id} cannot go on, its tools cannot be loaded: {tools.obstacles[0]}"
            )
            return None
        for away in tools.errors:
            log.warning("a run goes on without a server", workflow_id=served.workflow_id, reason=str(away))
        found = find_reducers(served.reducers)
        for problem in found.problems:
            self._complain(f"the run {served.workflow_id} goes on without its reducers: {problem}")
        worker = self._with.worker(
            self._client,
            queue=served.queue,
            tools=tools,
            directory=served.working_directory,
            reducers=() if found.problems else found.reducers,
        )
        async with worker:
            log.info("serving an unfinished run", workflow_id=served.workflow_id, task_queue=served.queue)
            while (ended := await self._end(served)) is None:  # noqa: ASYNC110  only the server knows
                await asyncio.sleep(LOOK_EVERY.total_seconds())
        log.info("run ended", workflow_id=served.workflow_id, status=ended)
        return ended

    async def _end(self, served: ServedQueue) -> str | None:
        """Tell how the run ended: Temporal's word for it, or `unknown` for a run that is not there."""
        try:
            run = await self._client.get_workflow_handle(served.workflow_id).describe()
        except RPCError as error:
            # A server that is away for a moment says nothing about the run.
            return "unknown" if error.status == RPCStatusCode.NOT_FOUND else None
        if run.status is None or not has_ended(run.status):
            return None
        return run.status.name.lower()

    def _complain(self, problem: str) -> None:
        if problem not in self._complained:
            self._complained.add(problem)
            log.error(problem)


def tools_of(served: ServedQueue, environment: Mapping[str, str] = NO_ENVIRONMENT) -> Discovery:
    """Find the tools that a remembered queue was served with."""
    if served.agent is None:
        return discover_tools(served.tool_directories, environment=environment)
    agent = read_agent(served.agent)
    if not isinstance(agent, AgentFile):
        return Discovery(problems=agent)
    return discover_tools_of(agent, environment=environment)
