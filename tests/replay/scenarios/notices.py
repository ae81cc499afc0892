"""The ways for people to be told of a run."""

import asyncio

from activities.model import ModelRefusedError
from surefoot.run import RESUME_UPDATE, Resume
from tests.replay.stage import Stage, ended
from tests.workflows.agents import Replies, Silent, calls, says, until_event
from tests.workflows.operators import update
from tests.workflows.people import EVERYTHING, People, Slow, approve_first, telling


async def people_are_told(stage: Stage) -> None:
    """A run waits for approval and for its model, and ends; people are told of it all, over a chain."""
    model = Replies([calls(("look", {})), ModelRefusedError("401: the key has expired"), says("Done.")])
    async with telling(stage.client, model, People(), queue=stage.name) as queue:
        run = await stage.start(queue, notify=EVERYTHING, on_model_failure="wait", chain={"max_events": 20})
        await approve_first(run)
        await until_event(run, "model_unavailable")
        await update(run, RESUME_UPDATE, Resume())
        await ended(run)


async def people_are_told_of_a_cancelled_run(stage: Stage) -> None:
    """A run is cancelled, and people are told."""
    async with telling(stage.client, Silent(), People(), queue=stage.name) as queue:
        run = await stage.start(queue, notify=("ended",))
        await until_event(run, "turn_started")
        await run.cancel()
        await ended(run)


async def run_is_cancelled_while_people_are_told(stage: Stage) -> None:
    """A run is cancelled when it has answered, and people are being told."""
    people = Slow()
    async with telling(stage.client, Replies([says("Done.")]), people, queue=stage.name) as queue:
        run = await stage.start(queue, notify=("ended",))
        await asyncio.wait_for(people.asked.wait(), 20)
        await run.cancel()
        people.go_on.set()
        await ended(run)


async def nobody_can_be_told(stage: Stage) -> None:
    """What tells people fails for good."""
    async with telling(stage.client, Replies([says("Done.")]), People(busy=1), queue=stage.name) as queue:
        await ended(await stage.start(queue, notify=("ended",)))


SCENARIOS = (
    people_are_told,
    people_are_told_of_a_cancelled_run,
    run_is_cancelled_while_people_are_told,
    nobody_can_be_told,
)
