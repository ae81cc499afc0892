"""Turns that are large in one way or another, on the real server: none of them ends a run.

What a model was shown tells how its calls ended. A query of a run that has ended replays all of it, and these
runs would be replayed for each page.
"""

import asyncio
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RawValue

from activities.interface import ToolCallInput
from surefoot.conversation import AssistantMessage, ToolMessage
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.sizes import MAX_HISTORY_BYTES
from tests.workflows.agents import Replies, calls, run_agent, says, serving, start, tool

pytestmark = pytest.mark.slow


def many(count: int) -> AssistantMessage:
    wanted: list[tuple[str, JsonValue]] = [("x", {})] * count
    return calls(*wanted)


def brackets() -> JsonValue:
    """Nested brackets, as many as an answer may hold: what takes longest to read for its size."""
    nested: JsonValue = []
    for _ in range(90):
        nested = [nested]
    large: list[JsonValue] = [nested] * 530
    return large


def shown(model: Replies) -> list[ToolSuccess | ToolFailure]:
    """Give the outcomes that the model was shown with what it was asked last."""
    messages, _ = model.asked[-1]
    return [message.outcome for message in messages if isinstance(message, ToolMessage)]


def codes(outcomes: list[ToolSuccess | ToolFailure]) -> list[str]:
    return [outcome.error_code if isinstance(outcome, ToolFailure) else "answered" for outcome in outcomes]


async def history_bytes(run: WorkflowHandle[Any, Any]) -> int:
    return (await run.describe()).raw_description.workflow_execution_info.history_size_bytes


async def test_the_answers_of_one_turn_never_fill_a_history(client: Client) -> None:
    large = "x" * (1024 * 1024 - 2)

    async def tell(_: RawValue) -> str:
        return large

    model = Replies([many(40), says("Done.")])
    async with asyncio.timeout(100), serving(client, model, [tool("x", tell)]) as queue:
        run = await start(client, queue)
        result = await run.result()
        size = await history_bytes(run)

    outcomes = shown(model)
    refused = next(outcome for outcome in outcomes if isinstance(outcome, ToolFailure))
    assert (len(outcomes), result.answer) == (40, "Done.")
    assert set(codes(outcomes)) == {"answered", "LIMIT_REACHED"}
    assert 16 <= codes(outcomes).count("answered") <= 32
    assert size < MAX_HISTORY_BYTES
    assert refused.error == (
        "Tool 'x' was not called: this turn's answers fill 16MB already; ask for less at once"
    )


@pytest.mark.long
async def test_many_answers_that_take_long_to_read_may_arrive_together(client: Client) -> None:
    large = brackets()
    waiting, together = 16, asyncio.Event()

    async def tell(_: RawValue) -> JsonValue:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            together.set()
        await together.wait()
        return large

    model = Replies([many(16), says("Done.")])
    async with asyncio.timeout(100), serving(client, model, [tool("x", tell)]) as queue:
        result = await (await start(client, queue)).result()

    assert result.answer == "Done."
    assert shown(model) == [ToolSuccess(tool="x", result=large)] * 16


@pytest.mark.long
async def test_a_turn_has_room_for_so_many_values(client: Client) -> None:
    large = brackets()

    async def tell(_: RawValue) -> JsonValue:
        return large

    model = Replies([many(60), says("Done.")])
    async with asyncio.timeout(150), serving(client, model, [tool("x", tell)]) as queue:
        result = await (await start(client, queue)).result()

    refused = next(outcome for outcome in shown(model) if isinstance(outcome, ToolFailure))
    assert (len(shown(model)), result.answer) == (60, "Done.")
    assert codes(shown(model)).count("answered") <= 36
    assert "this turn's answers hold 200,000 values already; ask for less at once" in refused.error


async def test_an_answer_of_too_many_values_is_refused_unread(client: Client) -> None:
    async def tell(_: RawValue) -> JsonValue:
        return [[] for _ in range(260_000)]

    async with asyncio.timeout(30):
        finished = await run_agent(client, [many(2), says("Done.")], [tool("x", tell)])

    errors = [outcome.error for outcome in finished.outcomes if isinstance(outcome, ToolFailure)]
    assert errors == ["Tool 'x' returned an answer of more than 50,000 values; ask for less at once"] * 2


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(100, id="100"),
        pytest.param(2_500, id="2,500", marks=pytest.mark.long),
    ],
)
async def test_every_one_of_many_calls_is_answered_in_order_and_at_most_32_at_once(
    client: Client, wanted: int
) -> None:
    running = most = 0

    async def count(given: RawValue) -> JsonValue:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        call = ToolCallInput.model_validate_json(given.payload.data)
        running -= 1
        return call.params

    numbers: list[tuple[str, JsonValue]] = [("x", {"n": n}) for n in range(wanted)]
    model = Replies([calls(*numbers), says("Done.")])
    async with asyncio.timeout(280), serving(client, model, [tool("x", count)]) as queue:
        result = await (await start(client, queue)).result()

    assert shown(model) == [ToolSuccess(tool="x", result={"n": n}) for n in range(wanted)]
    assert most <= 32
    assert result.tool_executions == wanted
