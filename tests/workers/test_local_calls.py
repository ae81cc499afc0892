import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Surroundings, Tool
from surefoot.definition import ToolDefinition
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.sub_agent import SubAgent
from tests.activities.tools.tool_run import until
from workers.local_calls import MAX_CALLS, LocalCalls, runs_here
from workers.uncut_tool import UncutTool


@dataclass(frozen=True)
class Gate:
    """A tool that answers when it is let through, and remembers how many waited at most."""

    definition: ToolDefinition
    origin: str = "here"
    opened: asyncio.Event = field(default_factory=asyncio.Event)
    inside: list[str] = field(default_factory=list[str])
    most: list[int] = field(default_factory=list[int])

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        self.inside.append(call.call_id)
        self.most.append(len(self.inside))
        try:
            await self.opened.wait()
        finally:
            self.inside.remove(call.call_id)
        return ToolSuccess(tool=call.tool, result=call.params)


def definition(name: str, **fields: object) -> ToolDefinition:
    given: dict[str, object] = {"name": name, "description": "Waits.", "inputSchema": {"type": "object"}}
    return ToolDefinition.model_validate({**given, **fields})


def calls_of(tools: Mapping[str, Tool]) -> LocalCalls:
    return LocalCalls(tools, directory=Path("/"), artifacts=None, kind="test")


async def waiting(gate: Gate, count: int) -> None:
    await until(lambda: len(gate.inside) == count)


@pytest.mark.parametrize(
    ("exclusive", "side_by_side"),
    [
        pytest.param(False, MAX_CALLS, id="any"),
        pytest.param(True, 1, id="exclusive ones"),
    ],
)
async def test_so_many_calls_are_made_side_by_side(exclusive: bool, side_by_side: int) -> None:
    gate = Gate(definition("gate", exclusive=exclusive))
    calls = calls_of({"gate": gate})

    running = [asyncio.create_task(calls.call("gate", {"n": n})) for n in range(MAX_CALLS + 8)]
    await waiting(gate, side_by_side)
    gate.opened.set()
    outcomes = await asyncio.gather(*running)

    expected: list[JsonValue] = [{"n": n} for n in range(MAX_CALLS + 8)]
    assert [outcome.result for outcome in outcomes if isinstance(outcome, ToolSuccess)] == expected
    assert max(gate.most) == side_by_side


async def test_who_waits_for_an_exclusive_tool_takes_nobodys_place() -> None:
    exclusive, other = Gate(definition("one", exclusive=True)), Gate(definition("other"))
    calls = calls_of({"one": exclusive, "other": other})

    running = [asyncio.create_task(calls.call("one", {})) for _ in range(MAX_CALLS)]
    await waiting(exclusive, 1)
    running.append(asyncio.create_task(calls.call("other", {})))
    await waiting(other, 1)
    for gate in (exclusive, other):
        gate.opened.set()

    assert len(await asyncio.gather(*running)) == MAX_CALLS + 1


async def test_a_call_that_is_cancelled_while_it_waits_is_never_made() -> None:
    gate = Gate(definition("gate", exclusive=True))
    calls = calls_of({"gate": gate})
    first, second = (asyncio.create_task(calls.call("gate", {})) for _ in range(2))
    await waiting(gate, 1)

    second.cancel()
    gate.opened.set()
    await first

    assert (second.cancelled() or second.cancelling() > 0, len(gate.most)) == (True, 1)


@pytest.mark.parametrize(
    ("tool", "params", "code"),
    [
        pytest.param("gote", {}, "TOOL_NOT_FOUND", id="an unknown tool"),
        pytest.param("gate", [], "INVALID_PARAMS", id="params that are no object"),
        pytest.param("gate", {"x": "x" * 1_100_000}, "INPUT_TOO_LARGE", id="params that are too large"),
    ],
)
async def test_a_call_is_checked_before_it_is_made(tool: str, params: JsonValue, code: str) -> None:
    gate = Gate(definition("gate"))
    outcome = await calls_of({"gate": gate}).call(tool, params)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, gate.most) == (code, [])


def test_only_what_this_machine_can_run_is_run_here() -> None:
    tools: list[Tool] = [
        Gate(definition("any")),
        DiskTool(definition("disk"), Path("disk.tool.json"), Path("disk")),
        DiskTool(definition("remote", executorQueue="gpu"), Path("remote.tool.json"), None),
        Gate(definition("agent", agent=SubAgent(key="agent", system="Review."))),
    ]
    assert [tool.definition.name for tool in tools if runs_here(tool)] == ["any", "disk"]


def test_an_uncut_tool_is_the_tool_without_its_limit() -> None:
    gate = Gate(definition("gate", limits={"stdout": 200, "result": 2_000}))
    uncut = UncutTool(gate)
    assert (uncut.definition.limits.stdout, uncut.definition.limits.result) == (200, 1024 * 1024)
    assert (uncut.definition.name, uncut.origin) == ("gate", "here")
