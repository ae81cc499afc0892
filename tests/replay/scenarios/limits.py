"""How a run reaches its limits."""

from pydantic import JsonValue
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from tests.replay.stage import Stage
from tests.workflows.agents import answer, calls, says, tool

LOOK: tuple[str, JsonValue] = ("look", {})


async def calls_above_their_limit(stage: Stage) -> None:
    """Of two calls of a turn only one is left."""
    model = [calls(LOOK), calls(LOOK, LOOK), says("What I have.")]
    await stage.play(model, [tool("look", answer)], limits={"max_tool_calls": 2})


async def tokens_are_spent(stage: Stage) -> None:
    """A limit of tokens is reached by two turns, each in a run of its own."""
    model = [calls(LOOK), calls(LOOK), says("What I have.")]
    limits = {"max_input_tokens": 15}
    await stage.play(model, [tool("look", answer)], limits=limits, chain={"max_events": 1})


async def time_is_up(stage: Stage) -> None:
    """The time is up before the first turn, which closes the run."""
    limits = {"max_seconds": 0.001}
    await stage.play([says("I had no time.")], limits=limits)


async def failures_in_a_row(stage: Stage) -> None:
    """A tool that keeps failing is warned of, and ends the run."""

    async def crash(_: RawValue) -> JsonValue:
        raise ApplicationError("it broke", type="TOOL_CRASHED")

    model = [*[calls(LOOK)] * 4, says("What I have.")]
    await stage.play(model, [tool("look", crash)], limits={"failures_in_a_row": 2})


SCENARIOS = (calls_above_their_limit, tokens_are_spent, time_is_up, failures_in_a_row)
