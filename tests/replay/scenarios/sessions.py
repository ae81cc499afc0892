"""Sessions: what is said to a run that goes on after its answers, and how it ends."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from temporalio.client import WorkflowHandle

from surefoot.events import Answered
from surefoot.run import END_SESSION_UPDATE, SEND_MESSAGE_UPDATE, EndSession, SendMessage
from tests.replay.stage import Stage, ended
from tests.workflows.agents import Replies, events_of, says, serving
from tests.workflows.operators import update


async def session_is_ended(stage: Stage) -> None:
    """A session begins with its first message, continues as new with each turn, and is ended."""
    model = Replies([says("One."), says("Two."), says("Three.")])
    async with serving(stage.client, model, queue=stage.name):
        chain = {"max_events": 1}
        run = await stage.start(stage.name, prompt="", session={"idle_seconds": 3_600}, chain=chain)
        here = stage.client.get_workflow_handle(run.id)
        for message_id in ("first", "second", "third"):
            await _say(here, message_id)
        await update(here, END_SESSION_UPDATE, EndSession())
        await ended(run)


async def session_is_left_alone(stage: Stage) -> None:
    """A session answers its prompt and a message, and ends when nobody says more."""
    async with serving(stage.client, Replies([says("One."), says("Two.")]), queue=stage.name):
        run = await stage.start(stage.name, session={"idle_seconds": 3})
        await _say(run, "more")
        await ended(run)


async def session_is_cancelled(stage: Stage) -> None:
    """A session is cancelled while it waits for a message."""
    async with serving(stage.client, Replies([says("One.")]), queue=stage.name):
        run = await stage.start(stage.name, session={})
        await _until_answered(run, ())
        await run.cancel()
        await ended(run)


async def _say(run: WorkflowHandle[Any, Any], message_id: str) -> None:
    await update(run, SEND_MESSAGE_UPDATE, SendMessage(text="Go on.", message_id=message_id))
    await _until_answered(run, (message_id,))


async def _until_answered(run: WorkflowHandle[Any, Any], answers: tuple[str, ...]) -> None:
    while True:
        last = (await events_of(run))[-1]
        if isinstance(last, Answered) and last.answers == answers:
            return
        await asyncio.sleep(0.02)


SCENARIOS: Sequence[Callable[[Stage], Awaitable[None]]] = (
    session_is_ended,
    session_is_left_alone,
    session_is_cancelled,
)
