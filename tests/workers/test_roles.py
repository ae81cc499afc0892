import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle

from activities.interface import LlmTurnResult
from activities.tools.tool_sets import ToolSets
from surefoot.conversation import Message
from surefoot.definition import ToolDefinition
from surefoot.json_schema import JsonSchema
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import ChainLimits
from surefoot.sub_agent import SubAgent
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.workers.real_workers import new_queue
from tests.workers.role_workers import part, parts
from tests.workflows.agents import Replies, calls, finish, start
from tests.workflows.agents import says as answers


async def asked_where(handle: WorkflowHandle[Any, Any], client: Client) -> set[tuple[str, str]]:
    """Give the activities of all runs of a chain, each with the task queue that it was given to."""
    asked: set[tuple[str, str]] = set()
    run_id = handle.first_execution_run_id
    while run_id:
        run, run_id = client.get_workflow_handle(handle.id, run_id=run_id), None
        async for event in run.fetch_history_events():
            if event.HasField("activity_task_scheduled_event_attributes"):
                scheduled = event.activity_task_scheduled_event_attributes
                asked.add((scheduled.activity_type.name, scheduled.task_queue.name))
            if event.HasField("workflow_execution_continued_as_new_event_attributes"):
                run_id = event.workflow_execution_continued_as_new_event_attributes.new_execution_run_id
    return asked


async def test_each_part_of_a_run_is_done_by_the_workers_of_its_role(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + 'printf %s "$1"')
    model = Replies([calls(("x", {"n": 1})), calls(("x", {"n": 2})), answers("Done.")])

    queue = new_queue()
    async with (
        asyncio.timeout(20),
        parts(client, tmp_path, model, "agent", "llm", "tools", queue=queue),
    ):
        # Continues as new before every turn, where the run must not forget whom to ask.
        handle = await start(client, queue, chain=ChainLimits(max_events=1))
        finished = await finish(handle)

    assert finished.outcomes == [ToolSuccess(tool="x", result={"n": n}) for n in (1, 2)]
    assert await asked_where(handle, client) == {
        ("list_tools", queue),
        ("list_tools", f"{queue}-tools"),
        ("llm_turn", f"{queue}-llm"),
        ("x", f"{queue}-tools"),
    }


async def test_a_call_while_all_workers_of_tools_are_away_is_not_picked_up(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", SHELL + "echo 1", pickupTimeoutSeconds=1)
    told, go = asyncio.Event(), asyncio.Event()

    class Waiting(Replies):
        async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
            told.set()
            await go.wait()
            return await super().reply(messages, closing=closing)

    model = Waiting([calls(("x", {})), answers("Done.")])
    queue = new_queue()
    async with asyncio.timeout(20), parts(client, tmp_path, model, "agent", "llm", queue=queue):
        async with part(client, tmp_path, model, queue=queue, role="tools"):
            handle = await start(client, queue)
            await told.wait()
        go.set()
        finished = await finish(handle)

    [outcome] = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert outcome.error_code == "TOOL_INVOCATION_TIMEOUT"
    assert f"'{queue}-tools'" in outcome.error


def test_tools_that_say_where_they_run_stay_there_and_agents_run_nowhere() -> None:
    schema: JsonSchema = {"type": "object"}
    here = ToolDefinition(name="here", description="x", input_schema=schema)
    gpu = here.model_copy(update={"name": "gpu", "executor_queue": "gpu"})
    agent = here.model_copy(update={"name": "agent", "agent": SubAgent(key="a", system="Review.")})

    sets = ToolSets((here, gpu, agent), {"a": (here,)}).at("q-tools")

    assert [tool.executor_queue for tool in sets.plain] == ["q-tools", "gpu", None]
    assert [tool.executor_queue for tool in sets.of_agents["a"]] == ["q-tools"]
    assert sets.plain[0].heartbeat_seconds == here.heartbeat_seconds
