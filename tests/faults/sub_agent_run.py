"""Carries out the calls of agents: one run that calls them all at once, and an operator."""

import asyncio
import json
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError

from surefoot.run import WORKFLOW, RunInput
from tests.console.command import Surefoot
from tests.faults.case import EFFECTS
from tests.faults.observation import Observation
from tests.faults.shared_run import CENSUS, helpers, observed
from tests.faults.sub_agent_cases import Deed, Steps, SubAgentCase
from tests.workflows.operators import cancel_call
from workers.snapshot import snapshot_of

BEGIN_SECONDS = 60
END_SECONDS = 90


def carry_out(cases: Sequence[SubAgentCase], surefoot: Surefoot) -> dict[str, Observation]:
    """Make all calls in one turn and give what was seen of each case by its name."""
    workflow_id = f"faults-{secrets.token_hex(4)}"
    for one in cases:
        _write_agent(surefoot.directory, one)
    tools = surefoot.directory / "tools"
    tools.mkdir()
    (tools / "helpers.py").write_text(helpers(workflow_id))
    calls = [one.case for one in cases]
    steps: Steps = [
        {"call": [{case.tool: case.params} for case in calls]},
        {"say": "{{outcomes}}", "call": [{CENSUS: {}}]},
        {"say": "Done."},
    ]
    (surefoot.directory / "script.yaml").write_text(json.dumps({"steps": steps}))
    asyncio.run(_take_ids(cases, surefoot, workflow_id))
    sources = [option for case in calls for option in ("--tools", f"{case.tool}.md")]
    run = surefoot.start(
        *("run", "Try everything.", "--model", "scripted:script.yaml", "-o", "jsonl"),
        *("--tools", tools, *sources, "--workflow-id", workflow_id, "--approve", "*=never"),
    )
    run.until_printed("tool_execution_scheduled")
    asyncio.run(_interfere(cases, surefoot, workflow_id))
    ended = run.ends(seconds=END_SECONDS)

    assert (ended.exit_code, ended.event("run_finished")["status"]) == (0, "completed"), ended.stderr
    (left,) = [event for event in ended.events if event.get("tool") == CENSUS and "outcome" in event]
    effects = _of_whole_calls(surefoot.directory / EFFECTS)
    return observed([calls], ended, effects, workflow_id, left["outcome"]["result"]["found"], first_turn=1)


def _write_agent(directory: Path, one: SubAgentCase) -> None:
    name, front, steps = one.case.tool, dict(one.front), one.steps
    if one.below is not None:
        below = f"below-{name}"[:64]
        _write(directory, below, {}, {"steps": one.below})
        front["tools"] = [f"{below}.md"]
        steps = json.loads(json.dumps(steps).replace("BELOW", below))
    _write(directory, name, front, {**one.script, "steps": steps})


def _write(directory: Path, name: str, front: dict[str, Any], script: dict[str, Any]) -> None:
    fields = {"description": "An agent.", "model": f"scripted:{name}.yaml", **front}
    text = "\n".join(f"{key}: {json.dumps(value)}" for key, value in fields.items())
    (directory / f"{name}.md").write_text(f"---\n{text}\n---\nDo as you are asked.\n")
    (directory / f"{name}.yaml").write_text(json.dumps(script))


async def _take_ids(cases: Sequence[SubAgentCase], surefoot: Surefoot, workflow_id: str) -> None:
    client = await surefoot.client()
    for number, one in enumerate(cases, 1):
        if one.deed == "take its id":
            await client.start_workflow(
                WORKFLOW,
                RunInput(prompt="p", model="m"),
                id=f"{workflow_id}/1-{number}",
                task_queue=f"{workflow_id}-nobody",
            )


async def _interfere(cases: Sequence[SubAgentCase], surefoot: Surefoot, workflow_id: str) -> None:
    client = await surefoot.client()
    for number, one in enumerate(cases, 1):
        tool_exec_id = f"1-{number}"
        child = client.get_workflow_handle(f"{workflow_id}/{tool_exec_id}")
        if one.deed in ("cancel", "terminate", "cancel the call"):
            await _until_at_work(child, one, client)
        await _do(one.deed, child, client.get_workflow_handle(workflow_id), tool_exec_id)


async def _do(
    deed: Deed, child: WorkflowHandle[Any, Any], run: WorkflowHandle[Any, Any], tool_exec_id: str
) -> None:
    match deed:
        case "nothing":
            pass
        case "cancel":
            await child.cancel()
        case "terminate" | "take its id":
            await child.terminate()
        case "cancel the call":
            await cancel_call(run, tool_exec_id)


async def _until_at_work(child: WorkflowHandle[Any, Any], one: SubAgentCase, client: Client) -> None:
    """Wait until what its model does last is being done: a delayed reply, or the call that hangs."""
    at_work = client.get_workflow_handle(f"{child.id}/1-1") if one.below is not None else child
    wanted = "bash" if one.case.side_effects else "llm_turn"
    async with asyncio.timeout(BEGIN_SECONDS):
        while not await _runs(at_work, wanted):  # noqa: ASYNC110  another process
            await asyncio.sleep(0.05)


async def _runs(run: WorkflowHandle[Any, Any], activity: str) -> bool:
    try:
        running = (await snapshot_of(run, served=True)).running
    except RPCError:
        # It does not exist yet.
        return False
    return any(one.activity_type == activity and one.started_at is not None for one in running)


def _of_whole_calls(effects: Path) -> Path:
    """Write down the side effects of agents' own calls as those of the calls that the agents are."""
    whole = effects.with_suffix(".whole")
    whole.write_text(re.sub(r"(/\d+-\d+)(?:/\d+-\d+)+$", r"\1", effects.read_text(), flags=re.MULTILINE))
    return whole
