"""Runs that tell the server what they are found by."""

from pydantic import JsonValue

from surefoot.run import WORKFLOW, ChainLimits, RunInput
from tests.replay.stage import Stage, ended
from tests.workflows.agents import Replies, answer, calls, never, says, serving, tool
from workflows.attributes import first_attributes

ASK: tuple[str, JsonValue] = ("reviewer", {"prompt": "Look at it."})


async def attributes_are_told(stage: Stage) -> None:
    """A chain that calls an agent and then fails in two ways; it tells of each, and so does the agent."""
    reviewer = tool("reviewer", never, agent={"key": "reviewer", "model": "reviewer"})
    replies = [calls(ASK), calls(("y", {})), calls(("x", [])), says("Done.")]
    async with serving(
        stage.client,
        Replies(replies),
        [tool("x", answer), reviewer],
        queue=stage.name,
        models={"reviewer": Replies([says("Fine.")])},
        of_agents={"reviewer": []},
    ) as queue:
        run = RunInput(
            prompt="Do it.",
            model="replies",
            agent_name="scout",
            search_attributes=True,
            chain=ChainLimits(max_events=20),
        )
        found_by = first_attributes("scout")
        await ended(
            await stage.client.start_workflow(
                WORKFLOW, run, id=stage.name, task_queue=queue, search_attributes=found_by
            )
        )


async def attributes_are_told_by_whoever_was_started_without(stage: Stage) -> None:
    """A run that another program started sets all of them itself."""
    await stage.play([says("Done.")], search_attributes=True, agent_name="scout")


SCENARIOS = (attributes_are_told, attributes_are_told_by_whoever_was_started_without)
