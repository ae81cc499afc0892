"""What a run is started with so that operators see and find it, on the real server."""

import re
import secrets
from typing import Any

from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowHandle
from temporalio.testing import WorkflowEnvironment

from surefoot.events import RunFinished
from surefoot.limits import Limits
from surefoot.run import RunInput, RunResult
from surefoot.strict_json import strict_json
from tests.workflows.agents import (
    Replies,
    Silent,
    answer,
    calls,
    events_of,
    never,
    says,
    serving,
    start,
    tool,
    until_event,
)
from workers.search_attributes import Settable, settable_search_attributes
from workers.starting import start_run

METADATA_QUERY = "__temporal_workflow_metadata"

AN_UPSERT = "upsert_workflow_search_attributes_event_attributes"


async def begin(client: Client, queue: str, **run: object) -> WorkflowHandle[Any, RunResult]:
    fields = {"prompt": "Do it with sk-abc123DEF456.", "model": "replies", "agent_name": "scout", **run}
    workflow_id = f"run-{secrets.token_hex(4)}"
    return await start_run(client, RunInput.model_validate(fields), workflow_id=workflow_id, queue=queue)


async def told(run: WorkflowHandle[Any, Any]) -> list[dict[str, object]]:
    """Give what the history says of search attributes: at the start, and each time after it."""
    first, *events = (await run.fetch_history()).events
    began = first.workflow_execution_started_event_attributes.search_attributes
    later = [getattr(event, AN_UPSERT).search_attributes for event in events if event.HasField(AN_UPSERT)]
    return [
        {
            name.removeprefix("Surefoot"): strict_json(payload.data)
            for name, payload in each.indexed_fields.items()
        }
        for each in (began, *later)
    ]


async def bytes_told(run: WorkflowHandle[Any, Any]) -> int:
    events = (await run.fetch_history()).events
    return sum(event.ByteSize() for event in events if event.HasField(AN_UPSERT))


async def test_a_run_is_found_by_what_becomes_of_it_for_a_few_bytes(client: Client) -> None:
    missing = tool("x", answer, inputSchema={"type": "object", "required": ["a"]})
    replies = [calls(("x", {"a": 1})), *[calls(("x", {}))] * 26, calls(("y", {})), says("Done.")]
    async with serving(client, Replies(replies), [missing]) as queue:
        run = await begin(client, queue, limits=Limits(failures_in_a_row=100))
        await run.result()

    assert await told(run) == [
        {"Agent": "scout", "Status": "running", "Turns": 0, "Failures": 0},
        {"LastErrorCode": "INVALID_PARAMS", "ErrorCodes": ["INVALID_PARAMS"], "Turns": 2, "Failures": 1},
        {"Turns": 27, "Failures": 25},
        {
            "LastErrorCode": "TOOL_NOT_FOUND",
            "ErrorCodes": ["INVALID_PARAMS", "TOOL_NOT_FOUND"],
            "Turns": 28,
            "Failures": 27,
        },
        {"Status": "completed", "Turns": 29},
    ]
    assert await bytes_told(run) < 1_200


async def test_a_run_without_failures_is_told_of_once_more_at_its_end(client: Client) -> None:
    async with serving(client, Replies([calls(("x", {})), says("Done.")]), [tool("x", answer)]) as queue:
        run = await begin(client, queue)
        await run.result()

    assert [each.get("Status") for each in await told(run)] == ["running", "completed"]
    assert await bytes_told(run) < 250


async def test_a_cancelled_run_is_found_as_such(client: Client) -> None:
    async with serving(client, Silent()) as queue:
        run = await begin(client, queue)
        await until_event(run, "turn_started")
        await run.cancel()
        async for _ in run.fetch_history_events(wait_new_event=True):
            pass

    assert (await told(run))[-1] == {"Status": "cancelled", "Turns": 1}


async def test_a_chain_and_the_agents_that_it_calls_are_found_alike(client: Client) -> None:
    ask = calls(("reviewer", {"prompt": "Look."}))
    reviewer = tool("reviewer", never, agent={"key": "reviewer", "model": "reviewer"})
    models = {"reviewer": Replies([says("Fine."), says("Fine.")])}
    async with serving(
        client, Replies([ask, ask, says("Done.")]), [reviewer], models=models, of_agents={"reviewer": []}
    ) as queue:
        run = await begin(client, queue, chain={"max_events": 1})
        await run.result()
        child = client.get_workflow_handle(f"{run.id}/1-1")
        newest = client.get_workflow_handle(run.id)

    assert await told(child) == [
        {"Agent": "reviewer", "Status": "running", "Turns": 0, "Failures": 0},
        {"Status": "completed", "Turns": 1},
    ]
    assert (await told(newest))[0]["Agent"] == "scout"
    assert (await told(newest))[-1] == {"Status": "completed", "Turns": 3}


async def test_a_run_whose_input_says_nothing_of_attributes_sets_none(client: Client) -> None:
    async with serving(client, Replies([calls(("y", {})), says("Done.")])) as queue:
        run = await start(client, queue)
        await run.result()

    assert await told(run) == [{}]


async def test_a_server_without_them_is_no_error(time_skipping: WorkflowEnvironment) -> None:
    client = time_skipping.client
    async with serving(client, Replies([calls(("y", {})), says("Done.")])) as queue:
        run = await begin(client, queue)
        await run.result()
        events = await events_of(run)

    assert await settable_search_attributes(client) == Settable()
    assert isinstance(events[-1], RunFinished)
    assert await told(run) == [{}]


async def test_a_run_is_described_without_its_secrets(client: Client) -> None:
    async with serving(client, Replies([says("Done.")])) as queue:
        run = await begin(client, queue)
        await run.result()
        description = await run.describe()

    assert await description.static_summary() == "Do it with [redacted]."
    assert await description.static_details() == (
        "**Agent** `scout`\n\n**Model** `replies`\n\n**Limits** 50 turns\n\n**Tools** those of its worker"
    )


async def test_what_a_run_came_to_is_shown_after_its_end_and_a_chain_goes_on_with_it(client: Client) -> None:
    replies = [calls(("y", {})), calls(("x", {})), says("Done.")]
    async with serving(client, Replies(replies), [tool("x", answer)]) as queue:
        run = await begin(client, queue, chain={"max_events": 1})
        await run.result()
        newest = client.get_workflow_handle(run.id)
        shown = (await newest.query(METADATA_QUERY, result_type=WorkflowMetadata)).current_details

    assert re.sub(r"\d\d:\d\d:\d\d|[\d.]+s \|", "…", shown).split("\n\n") == [
        "**Completed**",
        "agent `scout` · turn 3 · 1 failed call · as of … UTC",
        "**Last failure** `1-1` TOOL_NOT_FOUND: `There is no tool 'y'; the tools are: x`",
        "**Spent** 3 of 50 turns",
        (
            "| call | tool and arguments | outcome | time |\n|---|---|---|---|\n"
            "| 2-1 | `x` | ok | …\n| 1-1 | `y` | TOOL_NOT_FOUND | — |"
        ),
    ]
