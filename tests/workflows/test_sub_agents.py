"""Agents that are called as tools, each call a child workflow, on the real server."""

from typing import Any

from pydantic import JsonValue
from temporalio.client import Client, WorkflowHandle

from surefoot.ledger import ToolExecutionStarted
from surefoot.outcome import ToolSuccess
from surefoot.run import RunResult
from tests.workflows.agents import (
    FakeTool,
    Replies,
    answer,
    calls,
    finish,
    never,
    says,
    serving,
    start,
    tool,
)

ASK: tuple[str, JsonValue] = ("reviewer", {"prompt": "Look at it."})
PROMPT: JsonValue = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "minLength": 1}},
    "required": ["prompt"],
}


def agent(name: str, **settings: JsonValue) -> FakeTool:
    """An agent as a tool; its model is named after it."""
    return tool(name, never, inputSchema=PROMPT, agent={"key": name, "model": name, **settings})


def child_of(
    run: WorkflowHandle[Any, Any], client: Client, call: str = "1-1"
) -> WorkflowHandle[Any, RunResult]:
    return client.get_workflow_handle(f"{run.id}/{call}", result_type=RunResult)


async def test_an_agents_answer_is_the_outcome_of_its_call(client: Client) -> None:
    reviewer = Replies([calls(("look", {})), says("All is well.")])
    async with serving(
        client,
        Replies([calls(ASK), says("Done.")]),
        [agent("reviewer", system="Review.")],
        models={"reviewer": reviewer},
        of_agents={"reviewer": [tool("look", answer)]},
    ) as queue:
        run = await start(client, queue)
        finished = await finish(run)
        child = await child_of(run, client).describe()

    assert finished.outcomes == [
        ToolSuccess(
            tool="reviewer",
            result={"status": "completed", "answer": "All is well.", "reason": None, "turns": 2},
        )
    ]
    assert [event.type for event in finished.events][3:6] == [
        "tool_execution_scheduled",
        "tool_execution_started",
        "tool_execution_completed",
    ]
    started = next(event for event in finished.events if isinstance(event, ToolExecutionStarted))
    assert started.executor == f"{run.id}/1-1 ({child.run_id})"
    assert (finished.result.usage.requests, finished.result.tool_calls) == (4, 2)
    assert child.parent_id == run.id
