import asyncio
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.common import RawValue

from activities.interface import KEEP_CONVERSATION
from surefoot.conversation import AssistantMessage
from surefoot.ledger import Event, TurnStarted
from surefoot.run import EVENTS_QUERY, EventsPage, RunResult
from surefoot.usage import Usage
from tests.workflows.agents import Act, Replies, answer, calls, says, serving, start, tool

EVERY_TURN = {"max_events": 1}


async def chain_of(run: WorkflowHandle[Any, Any], client: Client) -> list[str]:
    """The run ids of a chain, the newest first."""
    page = await run.query(EVENTS_QUERY, 0, result_type=EventsPage)
    found = [(await run.describe()).run_id]
    while page.continued_from is not None:
        found.append(page.continued_from)
        earlier = client.get_workflow_handle(run.id, run_id=found[-1])
        page = await earlier.query(EVENTS_QUERY, 0, result_type=EventsPage)
    return found


async def events_of_chain(run: WorkflowHandle[Any, Any], client: Client) -> list[Event]:
    """All events of a chain, asked run by run from the oldest on."""
    events: list[Event] = []
    for run_id in reversed(await chain_of(run, client)):
        handle = client.get_workflow_handle(run.id, run_id=run_id)
        more = True
        while more:
            page = await handle.query(EVENTS_QUERY, len(events), result_type=EventsPage)
            events += page.events
            more = page.more
    return events


def looking(turns: int) -> list[AssistantMessage | Exception]:
    return [*[calls(("look", {"n": n})) for n in range(1, turns)], says("Done.")]


async def large(_: RawValue) -> JsonValue:
    return "x" * 100_000


@pytest.mark.parametrize(
    ("act", "kept"),
    [pytest.param(answer, False, id="carried whole"), pytest.param(large, True, id="kept in the store")],
)
async def test_a_run_that_continues_as_new_is_one_run_to_everybody(
    client: Client, act: Act, *, kept: bool
) -> None:
    model = Replies(looking(8))
    async with asyncio.timeout(40), serving(client, model, [tool("look", act)]) as queue:
        run = await start(client, queue, chain=EVERY_TURN)
        result = await run.result()
        chain = await chain_of(run, client)
        events = await events_of_chain(run, client)
        histories = [
            await client.get_workflow_handle(run.id, run_id=run_id).fetch_history() for run_id in chain
        ]

    assert result == RunResult(
        status="completed",
        answer="Done.",
        turns=8,
        tool_executions=7,
        failed_tool_executions=0,
        usage=Usage(requests=8, input_tokens=80, output_tokens=16),
    )
    assert len(chain) == 8
    assert [event.type for event in events] == [
        "run_started",
        *(
            7
            * [
                "turn_started",
                "model_replied",
                "tool_execution_scheduled",
                "tool_execution_started",
                "tool_execution_completed",
            ]
        ),
        "turn_started",
        "model_replied",
        "run_finished",
    ]
    assert [event.turn for event in events if isinstance(event, TurnStarted)] == [*range(1, 9)]
    # Each turn the model is given all that was said before, whatever of it the run still has at hand.
    assert [len(given) for given, _ in model.asked] == [*range(2, 17, 2)]
    for (earlier, _), (later, _) in zip(model.asked, model.asked[1:], strict=False):
        assert [*later[: len(earlier)]] == [*earlier]
    scheduled = {
        event.activity_task_scheduled_event_attributes.activity_type.name
        for history in histories
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    }
    assert (KEEP_CONVERSATION in scheduled) == kept
