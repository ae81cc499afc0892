"""The ways for a run and its turns to go."""

import asyncio
from datetime import timedelta

from pydantic import JsonValue
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.common import RawValue
from temporalio.worker import Worker

from activities.interface import LLM_TURN, LlmTurnResult
from activities.model import ModelRefusedError, ModelUnavailableError
from surefoot.conversation import AssistantMessage
from surefoot.run import WORKFLOW
from surefoot.usage import Usage
from tests.replay.changed_code import Around, Mistake
from tests.replay.stage import Stage, ended
from tests.workflows.agents import (
    FakeTools,
    Replies,
    Silent,
    answer,
    calls,
    says,
    serving,
    tool,
    until_event,
    until_history_holds,
)
from workers.sandbox import workflow_sandbox
from workflows.agent import Agent

COUNTED: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"files": {"type": "integer"}},
    "required": ["files"],
}
LOOK: list[tuple[str, JsonValue]] = [("look", {})]


async def answer_at_once(stage: Stage) -> None:
    """The model answers without a call."""
    await stage.play([says("Done.")])


async def two_turns(stage: Stage) -> None:
    """One call, one answer."""
    await stage.play([calls(*LOOK), says("Done.")], [tool("look", answer)])


async def text_beside_calls(stage: Stage) -> None:
    """The model speaks while it calls."""
    speaking = AssistantMessage(text="Let me look.", tool_calls=calls(*LOOK).tool_calls)
    await stage.play([speaking, says("Done.")], [tool("look", answer)])


async def prompted_protocol(stage: Stage) -> None:
    """A model that is asked for tools in text, under a system prompt of the user's."""
    model = [calls(*LOOK), says("Done.")]
    await stage.play(model, [tool("look", answer)], protocol="prompted", system="Be brief.")


async def twenty_turns(stage: Stage) -> None:
    """Many turns of one call."""
    await stage.play([*[calls(*LOOK)] * 19, says("Done.")], [tool("look", answer)])


async def ten_calls_side_by_side(stage: Stage) -> None:
    """Ten calls of one turn, which end in another order than they were asked for; four are exclusive."""
    first_may_end = asyncio.Event()

    async def first(_: RawValue) -> str:
        await first_may_end.wait()
        return "first"

    async def last(_: RawValue) -> str:
        first_may_end.set()
        return "last"

    tools = [
        tool("first", first),
        tool("look", answer),
        tool("alone", answer, exclusive=True),
        tool("last", last),
    ]
    wanted: list[tuple[str, JsonValue]] = [("first", {}), *LOOK * 4, *[("alone", {})] * 4, ("last", {})]
    await stage.play([calls(*wanted), says("Done.")], tools)


async def more_calls_than_run_at_once(stage: Stage) -> None:
    """Forty calls of one turn."""
    await stage.play([calls(*LOOK * 40), says("Done.")], [tool("look", answer)])


async def large_new_messages(stage: Stage) -> None:
    """Answers that are too large for a turn's input, so that the turn asks for them."""

    async def tell(_: RawValue) -> str:
        return "x" * 200_000

    await stage.play([calls(*LOOK * 2), says("Done.")], [tool("look", tell)])


async def closing_turn(stage: Stage) -> None:
    """A limit of turns is reached, and the model answers with what it has."""
    model = [calls(*LOOK), calls(*LOOK), says("What I have.")]
    await stage.play(model, [tool("look", answer)], limits={"max_turns": 2})


async def unreadable_reply(stage: Stage) -> None:
    """A reply that cannot be read is corrected."""
    await stage.play([AssistantMessage(unreadable="it was empty"), says("Sorry. Done.")])


async def unreadable_replies(stage: Stage) -> None:
    """Nothing but replies that cannot be read fail the run."""
    await stage.play([AssistantMessage(unreadable="it was empty")] * 3)


async def structured_answer(stage: Stage) -> None:
    """An answer that does not fit its schema is corrected, over a chain of runs."""
    model = [calls(*LOOK), says("{}"), AssistantMessage(unreadable="it was empty"), says('{"files": 4}')]
    tools = [tool("look", answer)]
    await stage.play(model, tools, output_schema=COUNTED, chain={"max_events": 20})


async def structured_answer_at_a_limit(stage: Stage) -> None:
    """A limit is reached, and the closing answer does not fit."""
    model = [calls(*LOOK), says("What I have.")]
    await stage.play(model, [tool("look", answer)], output_schema=COUNTED, limits={"max_turns": 1})


async def structured_answers_that_never_fit(stage: Stage) -> None:
    """Nothing but answers that do not fit fail the run."""
    await stage.play([says("{}")] * 3, output_schema=COUNTED)


async def model_refuses(stage: Stage) -> None:
    """A model that cannot be asked fails the run."""
    await stage.play([ModelRefusedError("401: no such key")])


async def model_is_asked_again(stage: Stage) -> None:
    """A model that does not answer twice is asked a third time."""
    outage = [ModelUnavailableError("503 overloaded", timedelta(seconds=0.1)) for _ in range(2)]
    await stage.play([*outage, says("Done.")])


async def model_stays_away(stage: Stage) -> None:
    """A model that stays away longer than the run's patience fails it."""
    outage = [ModelUnavailableError("503 overloaded", timedelta(hours=1))]
    await stage.play(outage, model_patience={"total_seconds": 2, "attempt_seconds": 600})


async def turn_that_nobody_served(stage: Stage) -> None:
    """A turn is left alone for longer than the run's patience, and asked again."""
    async with serving(stage.client, Silent(), queue=stage.name) as queue:
        run = await stage.start(queue, model_patience={"total_seconds": 1, "attempt_seconds": 600})
        await until_event(run, "turn_started")
    await until_history_holds(
        run, EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED
    )
    async with serving(stage.client, Replies([says("Done.")]), queue=stage.name):
        await ended(run)


async def input_of_another_shape(stage: Stage) -> None:
    """An input that is none fails the run."""
    async with serving(stage.client, Replies([]), queue=stage.name) as queue:
        run = await stage.client.start_workflow(WORKFLOW, {"prompt": 7}, id=stage.name, task_queue=queue)
        await ended(run)


@activity.defn(name=LLM_TURN)
async def always_look(_: RawValue) -> LlmTurnResult:
    """A model's turn that makes a call."""
    return LlmTurnResult(reply=calls(*LOOK), usage=Usage(requests=1), model_name="replies")


async def bug(stage: Stage) -> None:
    """A mistake in the code of a run fails it."""
    fakes = FakeTools([tool("look", answer)])
    async with Worker(
        stage.client,
        task_queue=stage.name,
        workflows=[Agent],
        activities=[always_look, fakes.list_tools, fakes.run_tool],
        workflow_runner=workflow_sandbox(),
        interceptors=[Around(Mistake)],
    ):
        await ended(await stage.start(stage.name))


SCENARIOS = (
    answer_at_once,
    two_turns,
    text_beside_calls,
    prompted_protocol,
    twenty_turns,
    ten_calls_side_by_side,
    more_calls_than_run_at_once,
    large_new_messages,
    closing_turn,
    unreadable_reply,
    unreadable_replies,
    structured_answer,
    structured_answer_at_a_limit,
    structured_answers_that_never_fit,
    model_refuses,
    model_is_asked_again,
    model_stays_away,
    turn_that_nobody_served,
    input_of_another_shape,
    bug,
)
