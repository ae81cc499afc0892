import io
import json
import re

import pytest
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment

from activities.interface import Capture
from console.jsonl import JsonlOutput
from console.output import Output
from console.plain import PlainOutput
from surefoot.events import Event
from tests.console.runs import RUN
from tests.workflows.agents import answer, calls, run_agent, says, tool


async def _too_slow(_: RawValue) -> None:
    raise ApplicationError("Tool 'slow' timed out after 2s", Capture(stdout="part"), type="TOOL_TIMEOUT")


@pytest.fixture
async def events(time_skipping: WorkflowEnvironment) -> tuple[Event, ...]:
    replies = [
        calls(("good", {"path": "a"}), ("slow", {"n": 3}), ("nope", {})),
        says("It is done."),
    ]
    finished = await run_agent(
        time_skipping.client, replies, [tool("good", answer), tool("slow", _too_slow)], max_turns=5
    )
    return finished.events


def _shown(output: Output, events: tuple[Event, ...]) -> None:
    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()


async def test_the_events_of_a_workflow_are_told_line_by_line(events: tuple[Event, ...]) -> None:
    stderr, stdout = io.StringIO(), io.StringIO()

    _shown(PlainOutput(stderr, answer=stdout), events)

    lines = re.sub(r"\d+(\.\d)?m?s\b", "TIME", stderr.getvalue()).splitlines()[2:]
    assert sorted(lines[1:7]) == [
        "  good: a",
        "  good: a -> ok in TIME",
        "  nope -> TOOL_NOT_FOUND: There is no tool 'nope'; the tools are: good, slow",
        "  slow: n=3",
        "  slow: n=3 -> TOOL_TIMEOUT after TIME: Tool 'slow' timed out after TIME",
        "turn 2",
    ]
    assert (lines[0], lines[7:], stdout.getvalue()) == (
        "turn 1",
        ["completed after 2 turns, 3 tool calls (2 failed), TIME, 20 tokens in, 4 out"],
        "It is done.\n",
    )


async def test_the_events_of_a_workflow_are_the_lines_of_jsonl(events: tuple[Event, ...]) -> None:
    stdout = io.StringIO()

    _shown(JsonlOutput(stdout, io.StringIO()), events)

    call = ("tool_exec_id", "call_id", "tool")
    objects = [json.loads(line) for line in stdout.getvalue().splitlines()]
    assert {(*one, one["type"]) for one in objects} == {
        ("type", "time", "workflow_id", "run_id", "ui_url", "run_started"),
        ("type", "time", "turn", "turn_started"),
        ("type", "time", "turn", "text", "tool_calls", "model_replied"),
        ("type", "time", *call, "tool_execution_scheduled"),
        ("type", "time", *call, "started_at", "executor", "tool_execution_started"),
        ("type", "time", *call, "outcome", "tool_execution_completed"),
        ("type", "time", *call, "outcome", "error", "acted", "tool_execution_failed"),
        ("type", "time", "status", "answer", "output", "error", "usage", "run_finished"),
    }
