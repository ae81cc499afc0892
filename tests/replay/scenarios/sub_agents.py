"""The ways for a run that calls others to go; each history is the caller's."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from activities.model import ModelRefusedError
from surefoot.conversation import AssistantMessage
from tests.replay.stage import Stage, ended
from tests.workflows.agents import (
    FakeTool,
    Replies,
    Silent,
    answer,
    calls,
    never,
    says,
    serving,
    tool,
    until_event,
)
from tests.workflows.operators import cancel_call

ASK: tuple[str, JsonValue] = ("reviewer", {"prompt": "Look at it."})


def _reviewer() -> FakeTool:
    return tool("reviewer", never, agent={"key": "reviewer", "model": "reviewer", "system": "Review."})


async def _play(
    stage: Stage, child: Sequence[AssistantMessage | Exception], *asked: AssistantMessage
) -> None:
    async with serving(
        stage.client,
        Replies([*asked, says("Done.")]),
        [_reviewer()],
        queue=stage.name,
        models={"reviewer": Replies(child)},
        of_agents={"reviewer": [tool("look", answer)]},
    ) as queue:
        await ended(await stage.start(queue, limits={"max_tool_calls": 4}))


async def sub_agent_answers(stage: Stage) -> None:
    """An agent answers, and then nothing is left for a second call of it."""
    look: tuple[str, JsonValue] = ("look", {})
    await _play(stage, [calls(look, look), says("Well.")], calls(ASK), calls(ASK))


async def sub_agent_fails(stage: Stage) -> None:
    """An agent's run fails."""
    await _play(stage, [ModelRefusedError("the key was revoked")], calls(ASK))


Fate = Callable[[WorkflowHandle[Any, Any], WorkflowHandle[Any, Any]], Awaitable[None]]
"""What befalls a run and its child."""


async def _befall(stage: Stage, fate: Fate) -> None:
    model = Replies([calls(ASK), says("Done.")])
    models = {"reviewer": Silent()}
    async with serving(stage.client, model, [_reviewer()], queue=stage.name, models=models) as queue:
        run = await stage.start(queue)
        await until_event(run, "tool_execution_started")
        await fate(run, stage.client.get_workflow_handle(f"{stage.name}/1-1"))
        await ended(run)


async def sub_agent_cancelled(stage: Stage) -> None:
    """An operator cancels an agent's run, which tells what it used."""
    await _befall(stage, lambda _, child: child.cancel())


async def call_of_a_sub_agent_cancelled(stage: Stage) -> None:
    """An operator cancels the call of an agent."""
    await _befall(stage, lambda run, _: cancel_call(run, "1-1"))


async def sub_agent_terminated(stage: Stage) -> None:
    """An operator terminates an agent's run."""
    await _befall(stage, lambda _, child: child.terminate())


async def run_with_a_sub_agent_cancelled(stage: Stage) -> None:
    """A run is cancelled while an agent works for it."""
    await _befall(stage, lambda run, _: run.cancel())


async def run_of_an_agent(stage: Stage) -> None:
    """A run that asks its worker for the tools of an agent, as one that is called does."""
    tools = {"reviewer": [tool("look", answer)]}
    model = Replies([calls(("look", {})), says("Done.")])
    async with serving(stage.client, model, queue=stage.name, of_agents=tools) as queue:
        await ended(await stage.start(queue, agent="reviewer", tells_parent=True))


SCENARIOS = (
    run_of_an_agent,
    sub_agent_answers,
    sub_agent_fails,
    sub_agent_cancelled,
    call_of_a_sub_agent_cancelled,
    sub_agent_terminated,
    run_with_a_sub_agent_cancelled,
)
