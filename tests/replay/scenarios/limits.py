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


async def cost_is_unknown(stage: Stage) -> None:
    """Nobody knows what a turn cost that was to have a limit."""
    await stage.play([calls(LOOK), says("What I have.")], [tool("look", answer)], limits={"max_cost": 5})


async def crash(_: RawValue) -> JsonValue:
    raise ApplicationError("it broke", type="TOOL_CRASHED")


async def failures_in_a_row(stage: Stage) -> None:
    """A tool that keeps failing is warned of, and ends the run."""
    model = [*[calls(LOOK)] * 4, says("What I have.")]
    await stage.play(model, [tool("look", crash)], limits={"failures_in_a_row": 2})


async def failures_in_a_row_of_a_chain(stage: Stage) -> None:
    """The same over a chain of runs."""
    model = [*[calls(LOOK)] * 4, says("What I have.")]
    await stage.play(model, [tool("look", crash)], limits={"failures_in_a_row": 2}, chain={"max_events": 1})


async def fails_on_and_on(stage: Stage) -> None:
    """A tool fails in the same way more often than a run may stand by default."""
    model = [*[calls(LOOK)] * 12, says("Done.")]
    await stage.play(model, [tool("look", crash)])


SCENARIOS = (
    calls_above_their_limit,
    tokens_are_spent,
    time_is_up,
    cost_is_unknown,
    failures_in_a_row,
    failures_in_a_row_of_a_chain,
    fails_on_and_on,
)
