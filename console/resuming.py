"""Going on with a session that was left: it is served again, if nobody does, and shows where it stood."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from console.errors import CommandError
from console.exit_codes import ExitCode
from console.found_run import find
from console.interrupt import Interrupt
from console.output import Output
from console.talking import Talk
from console.watching import resume_command
from surefoot.events import Event
from workers.following import told_so_far
from workers.reducers import find_reducers
from workers.served_queues import Claim, ServedQueues
from workers.serving import Serving
from workers.settings import Settings
from workers.snapshot import Snapshot, has_ended
from workers.takeover import tools_of
from workers.temporal import Temporal, temporal


async def resume_chat(
    workflow_id: str,
    talk: Talk,
    output: Output,
    settings: Settings,
    interrupt: Interrupt,
    *,
    address: str | None,
) -> ExitCode:
    """Show the last exchange of a session, and talk on.

    Raises:
        CommandError: the run is no session, or has ended, or its tools cannot be loaded.
    """
    async with temporal(settings, address=address) as server:
        found = await find(server, workflow_id)
        if found.asked is not None and found.asked.session is None:
            raise CommandError(f"the run '{workflow_id}' is no session: `surefoot watch` follows it")
        if has_ended(found.newest.status):
            raise CommandError(f"the session '{workflow_id}' has ended; `surefoot show` prints it")
        output.begin(**found.named())
        words = f"Leaving; `{resume_command(workflow_id, address)}` goes on with it."
        async with _served(server, settings, workflow_id):
            with interrupt.heeded(words):
                talk.go_on_after(await _told(server, workflow_id))
                return await talk(server.client, workflow_id, interrupt)


async def _told(server: Temporal, workflow_id: str) -> list[Event]:
    told = told_so_far(server.client, workflow_id)
    return [event async for event in told if not isinstance(event, Snapshot)]


@asynccontextmanager
async def _served(server: Temporal, settings: Settings, workflow_id: str) -> AsyncGenerator[None]:
    claim = _claim(settings, workflow_id) if server.embedded else None
    if claim is None:
        # Somebody else serves it.
        yield
        return
    try:
        serving = Serving.of(settings)
        served = claim.served
        tools = await asyncio.to_thread(tools_of, served, serving.environment)
        reducers = find_reducers(served.reducers)
        for problem in (*tools.obstacles, *reducers.problems):
            raise CommandError(f"the session '{workflow_id}' cannot go on: {problem}")
        worker = serving.worker(
            server.client,
            queue=served.queue,
            tools=tools,
            directory=served.working_directory,
            reducers=reducers.reducers,
        )
        async with worker:
            yield
        newest = await server.client.get_workflow_handle(workflow_id).describe()
        if has_ended(newest.status):
            claim.forget()
    finally:
        claim.release()


def _claim(settings: Settings, workflow_id: str) -> Claim | None:
    queues = ServedQueues.of(settings)
    named = (one.queue for one in queues.listing().queues if one.workflow_id == workflow_id)
    return next((claim for queue in named if (claim := queues.claim(queue)) is not None), None)
