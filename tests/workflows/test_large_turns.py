"""Turns that are large in one way or another, on the real server: none of them ends a run."""

import asyncio

from pydantic import JsonValue
from temporalio.client import Client
from temporalio.common import RawValue

from surefoot.conversation import AssistantMessage
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.workflows.agents import answer, calls, run_agent, says, tool


def many(count: int) -> AssistantMessage:
    wanted: list[tuple[str, JsonValue]] = [("x", {})] * count
    return calls(*wanted)


async def test_an_answer_of_too_many_values_is_refused_unread(client: Client) -> None:
    async def tell(_: RawValue) -> JsonValue:
        return [[] for _ in range(260_000)]

    async with asyncio.timeout(30):
        finished = await run_agent(client, [many(2), says("Done.")], [tool("x", tell)])

    errors = [outcome.error for outcome in finished.outcomes if isinstance(outcome, ToolFailure)]
    assert errors == ["Tool 'x' returned an answer of more than 50,000 values; ask for less at once"] * 2


async def test_every_one_of_many_calls_is_made_and_never_more_than_32_at_once(client: Client) -> None:
    wanted = 300
    running = most = 0

    async def count(given: RawValue) -> JsonValue:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        answered = await answer(given)
        running -= 1
        return answered

    async with asyncio.timeout(280):
        finished = await run_agent(client, [many(wanted), says("Done.")], [tool("x", count)])

    assert finished.outcomes == [ToolSuccess(tool="x", result={"ok": True})] * wanted
    assert most <= 32
    assert finished.result.tool_executions == wanted
