"""How operators hold runs, and let them have more."""

import asyncio

from pydantic import JsonValue
from temporalio.common import RawValue

from activities.model import ModelRefusedError
from tests.replay.stage import Stage, ended
from tests.workflows.agents import Replies, calls, says, serving, tool, until_event
from tests.workflows.operators import pause, raise_limits, resume


class _Held:
    """A tool that answers when it is let."""

    def __init__(self) -> None:
        self.began, self.go = asyncio.Event(), asyncio.Event()

    async def act(self, _: RawValue) -> JsonValue:
        self.began.set()
        await self.go.wait()
        return "held"


async def run_is_paused(stage: Stage) -> None:
    """Somebody pauses a run while one of two calls runs, and resumes it."""
    held, model = _Held(), Replies([calls(("x", {}), ("x", {})), says("Done.")])
    tools = [tool("x", held.act, exclusive=True)]
    async with serving(stage.client, model, tools, queue=stage.name):
        run = await stage.start(stage.name)
        await held.began.wait()
        await pause(run, "look at it first", "Ada")
        held.go.set()
        await until_event(run, "tool_execution_completed")
        await resume(run, "Ada")
        await ended(run)


async def limit_is_raised(stage: Stage) -> None:
    """Somebody raises a limit of a paused run that has reached it; it continues as new with each turn."""
    held, model = _Held(), Replies([calls(("x", {})), calls(("x", {})), says("Done.")])
    async with serving(stage.client, model, [tool("x", held.act)], queue=stage.name):
        run = await stage.start(stage.name, limits={"max_turns": 1}, chain={"max_events": 1})
        await held.began.wait()
        await pause(run)
        held.go.set()
        await until_event(run, "tool_execution_completed")
        await raise_limits(run, {"max_turns": 5}, sender="Ada")
        await resume(run)
        await ended(run)


async def model_is_waited_for(stage: Stage) -> None:
    """A model refuses a run that waits for it, and answers once the run is resumed."""
    model = Replies([ModelRefusedError("401: the key has expired"), says("Done.")])
    async with serving(stage.client, model, queue=stage.name):
        run = await stage.start(stage.name, on_model_failure="wait")
        await until_event(run, "model_unavailable")
        await resume(run)
        await ended(run)


SCENARIOS = (run_is_paused, limit_is_raised, model_is_waited_for)
