"""The ways for one call to go, told by fake executors and real ones that say the same."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import JsonValue
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from surefoot.conversation import AssistantMessage
from tests.replay.stage import Stage
from tests.workflows.agents import answer, calls, never, says, tool

Act = Callable[[RawValue], Awaitable[Any]]

CAPTURE = {"exit_code": 139, "stdout": "out", "stderr": "err"}
STARTED = {"stdout": "half of it", "stderr": "", "started_at": "2026-01-01T00:00:00+00:00"}


def gives(value: Any) -> Act:  # noqa: ANN401  anything an executor may give
    async def act(_: RawValue) -> Any:  # noqa: ANN401
        return value

    return act


def fails(*details: object, code: str | None, message: str = "It went wrong.") -> Act:
    async def act(_: RawValue) -> Any:  # noqa: ANN401
        raise ApplicationError(message, *details, type=code)

    return act


async def one_call(stage: Stage, act: Act, **definition: object) -> None:
    """Play one call of the tool x and an answer."""
    await stage.play([calls(("x", {})), says("Done.")], [tool("x", act, **definition)])


async def tool_timeout(stage: Stage) -> None:
    """An executor says that it stopped the tool at its deadline."""
    await one_call(stage, fails({**CAPTURE, "exit_code": None}, code="TOOL_TIMEOUT"))


async def tool_timeout_of_the_server(stage: Stage) -> None:
    """An executor forgets the deadline, and the server ends the call."""
    await one_call(stage, never, timeoutSeconds=0.5, heartbeatSeconds=None)


async def tool_crashed(stage: Stage) -> None:
    """An executor says that the tool crashed."""
    await one_call(stage, fails({**CAPTURE, **STARTED}, code="TOOL_CRASHED"))


async def tool_crashed_past_the_contract(stage: Stage) -> None:
    """An executor raises what no contract names, with details that nobody can read."""
    await one_call(stage, fails("no capture", code="SOMETHING", message="odd"))


async def tool_crashed_with_unreadable_details(stage: Stage) -> None:
    """An executor fails with details in an unknown encoding."""
    garbled = RawValue(Payload(metadata={"encoding": b"binary/mystery"}, data=b"\x00"))
    await one_call(stage, fails(garbled, code="TOOL_CRASHED", message="odd"))


async def claim_of_an_executor(stage: Stage) -> None:
    """An executor claims a code that only a run can know."""
    await one_call(stage, fails(CAPTURE, code="TOOL_DENIED", message="not on a Friday"))


async def invalid_output(stage: Stage) -> None:
    """An answer that is half a JSON value."""
    await one_call(stage, gives(RawValue(Payload(metadata={"encoding": b"json/plain"}, data=b"{"))))


async def invalid_output_in_an_unknown_encoding(stage: Stage) -> None:
    """An answer that is no JSON."""
    await one_call(stage, gives(RawValue(Payload(metadata={"encoding": b"binary/mystery"}, data=b"\xff"))))


async def invalid_output_by_its_schema(stage: Stage) -> None:
    """An answer that is not what the tool's schema says."""
    schema = {"type": "object", "properties": {"ok": {"type": "string"}}}
    await one_call(stage, answer, outputSchema=schema)


async def output_too_large(stage: Stage) -> None:
    """An answer above the cap."""
    await one_call(stage, gives("x" * (1024 * 1024)))


async def output_that_cannot_be_sent(stage: Stage) -> None:
    """An executor's SDK refuses to send the answer."""
    await one_call(stage, fails(code="PayloadsTooLarge", message="too big"))


async def answers_that_fill_a_turn(stage: Stage) -> None:
    """Answers of so many values that the last calls of the turn are not made."""
    wanted: list[tuple[str, JsonValue]] = [("x", {})] * 6
    await stage.play([calls(*wanted), says("Done.")], [tool("x", gives([0] * 49_000))])


async def input_too_large(stage: Stage) -> None:
    """Params above the cap."""
    await stage.play([calls(("x", {"text": "x" * (1024 * 1024)})), says("Done.")], [tool("x", answer)])


async def invalid_params(stage: Stage) -> None:
    """Params that are not what the tool's schema says, and params that are no object."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    wanted = calls(("x", {"n": "one"}), ("x", [1]))
    await stage.play([wanted, says("Done.")], [tool("x", answer, inputSchema=schema)])


async def tool_not_found(stage: Stage) -> None:
    """The model names a tool that there is not."""
    await stage.play([calls(("lok", {}), ("look", {})), says("Done.")], [tool("look", answer)])


async def tool_not_found_on_the_executor(stage: Stage) -> None:
    """The executor lacks the tool."""
    message = "Activity function x for workflow w is not registered on this worker, available: y"
    await one_call(stage, fails(code="NotFoundError", message=message))


async def tool_invocation_timeout(stage: Stage) -> None:
    """Nobody takes the call, and the run asks why."""
    await one_call(stage, never, executorQueue=stage.other_queue, pickupTimeoutSeconds=1)


async def tool_lost(stage: Stage) -> None:
    """An executor beats once and is silent then."""

    async def beat_and_hang(_: RawValue) -> None:
        activity.heartbeat(STARTED)
        await asyncio.Event().wait()

    await one_call(stage, beat_and_hang, heartbeatSeconds=1)


async def limit_reached(stage: Stage) -> None:
    """The model calls a tool in its closing turn."""
    one_more = AssistantMessage(text="One more.", tool_calls=calls(("x", {})).tool_calls)
    await stage.play([calls(("x", {})), one_more], [tool("x", answer)], limits={"max_turns": 1})


SCENARIOS = (
    tool_timeout,
    tool_timeout_of_the_server,
    tool_crashed,
    tool_crashed_past_the_contract,
    tool_crashed_with_unreadable_details,
    claim_of_an_executor,
    invalid_output,
    invalid_output_in_an_unknown_encoding,
    invalid_output_by_its_schema,
    output_too_large,
    output_that_cannot_be_sent,
    answers_that_fill_a_turn,
    input_too_large,
    invalid_params,
    tool_not_found,
    tool_not_found_on_the_executor,
    tool_invocation_timeout,
    tool_lost,
    limit_reached,
)
