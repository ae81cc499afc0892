import asyncio
import re
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.common import RawValue

from activities.interface import KEEP_CONVERSATION, LLM_TURN
from activities.store.directory import DirectoryStore
from surefoot.conversation import AssistantMessage
from surefoot.events import Event, TurnStarted
from surefoot.run import EVENTS_QUERY, EventsPage, RunResult
from surefoot.usage import Usage
from tests.workflows.agents import Act, Replies, answer, calls, never, says, serving, start, tool
from tests.workflows.operators import cancel_call, until_scheduled

pytestmark = pytest.mark.slow

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


async def larger(_: RawValue) -> JsonValue:
    return "x" * 300_000


@pytest.mark.parametrize(
    ("act", "kept"),
    [
        pytest.param(answer, False, id="carried whole"),
        pytest.param(large, True, id="kept in the store"),
        pytest.param(larger, True, id="kept in the store with what the model was not yet given"),
    ],
)
async def test_a_run_that_continues_as_new_is_one_run_to_everybody(
    client: Client, act: Act, *, kept: bool
) -> None:
    model = Replies(looking(4))
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
        turns=4,
        tool_executions=3,
        failed_tool_executions=0,
        usage=Usage(requests=4, input_tokens=40, output_tokens=8),
        tool_calls=3,
    )
    assert len(chain) == 4
    assert [event.type for event in events] == [
        "run_started",
        *(
            3
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
    assert [event.turn for event in events if isinstance(event, TurnStarted)] == [*range(1, 5)]
    # Each turn the model is given all that was said before, whatever of it the run still has at hand.
    assert [len(given) for given, _ in model.asked] == [2, 4, 6, 8]
    for (earlier, _), (later, _) in zip(model.asked, model.asked[1:], strict=False):
        assert [*later[: len(earlier)]] == [*earlier]
    scheduled = {
        event.activity_task_scheduled_event_attributes.activity_type.name
        for history in histories
        for event in history.events
        if event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
    }
    assert (KEEP_CONVERSATION in scheduled) == kept


async def test_no_update_is_lost_while_a_run_continues_as_new(client: Client) -> None:
    refusals: list[str] = []
    arrived, leave = asyncio.Event(), asyncio.Event()

    async def hold(_: RawValue) -> JsonValue:
        arrived.set()
        await leave.wait()
        return None

    async def ask_for_what_is_not_there(run: WorkflowHandle[Any, Any]) -> None:
        while not arrived.is_set():
            with pytest.raises(WorkflowUpdateFailedError) as refused:
                await cancel_call(run, "999-1")
            refusals.append(str(refused.value.cause))

    model = Replies([*looking(8)[:-1], calls(("hold", {})), says("Done.")])
    tools = [tool("look", answer), tool("hold", hold)]
    async with asyncio.timeout(60), serving(client, model, tools) as queue:
        run = await start(client, queue, chain=EVERY_TURN)
        await asyncio.gather(*(ask_for_what_is_not_there(run) for _ in range(3)))
        leave.set()
        result = await run.result()

    assert result.turns == 9
    assert len(refusals) > 9
    assert {refusal.partition(":")[0] for refusal in refusals} == {"REFUSED"}


async def test_a_call_can_be_cancelled_after_its_run_continued_as_new(client: Client) -> None:
    model = Replies([calls(("look", {})), calls(("wait", {})), says("Done.")])
    async with (
        asyncio.timeout(40),
        serving(client, model, [tool("look", answer), tool("wait", never)]) as queue,
    ):
        run = await start(client, queue, chain=EVERY_TURN)
        await until_scheduled(run, "2-1")
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await cancel_call(run, "1-1")
        await cancel_call(run, "2-1")
        result = await run.result()

    assert (result.turns, result.failed_tool_executions) == (3, 1)
    assert str(refused.value.cause) == "REFUSED: tool call '1-1' has already ended"


async def test_many_updates_make_a_run_continue_as_new(client: Client) -> None:
    model = Replies([calls(("wait", {})), calls(("look", {})), says("Done.")])
    async with (
        asyncio.timeout(40),
        serving(client, model, [tool("look", answer), tool("wait", never)]) as queue,
    ):
        run = await start(client, queue, chain={"max_updates": 1})
        await until_scheduled(run, "1-1")
        await cancel_call(run, "1-1")
        await run.result()

        assert len(await chain_of(run, client)) == 2


async def test_a_limit_counts_the_turns_of_the_whole_chain(client: Client) -> None:
    model = Replies([*looking(4)[:3], says("Closed.")])
    async with asyncio.timeout(40), serving(client, model, [tool("look", answer)]) as queue:
        run = await start(client, queue, chain=EVERY_TURN, limits={"max_turns": 3})
        result = await run.result()

    assert (result.status, result.reason, result.answer) == ("limit_reached", "limit of 3 turns", "Closed.")
    assert [closing for _, closing in model.asked] == [False, False, False, True]


async def test_a_run_waits_for_a_store_that_is_away(client: Client, tmp_path: Path) -> None:
    in_the_way = tmp_path / "store"
    in_the_way.touch()
    model = Replies(looking(4))
    store = DirectoryStore(in_the_way)
    async with asyncio.timeout(60), serving(client, model, [tool("look", large)], store=store) as queue:
        run = await start(client, queue, chain={"max_bytes": 450_000})
        failing = await until_failing(run, KEEP_CONVERSATION)
        in_the_way.unlink()
        result = await run.result()

    assert failing == f"CONVERSATION_UNAVAILABLE: the store {in_the_way} cannot be written to: File exists"
    assert result.answer == "Done."


async def test_a_worker_without_the_store_leaves_a_turn_to_one_that_has_it(
    client: Client, tmp_path: Path
) -> None:
    kept, empty = DirectoryStore(tmp_path / "kept"), DirectoryStore(tmp_path / "empty")
    arrived, leave = asyncio.Event(), asyncio.Event()

    async def hold(_: RawValue) -> JsonValue:
        arrived.set()
        await leave.wait()
        return None

    model = Replies([*looking(5)[:-1], calls(("hold", {})), says("Done.")])
    tools = [tool("look", large), tool("hold", hold)]
    async with asyncio.timeout(60):
        async with serving(client, model, tools, store=kept) as queue:
            run = await start(client, queue, chain={"max_bytes": 450_000})
            await arrived.wait()
            leave.set()
        async with serving(client, model, tools, store=empty, queue=queue):
            failing = await until_failing(run, LLM_TURN)
        async with serving(client, model, tools, store=kept, queue=queue):
            await run.result()

    assert re.fullmatch(r"CONVERSATION_UNAVAILABLE: there is no 'conversations/.+' in the store .+", failing)
    assert [len(given) for given, _ in model.asked] == [2, 4, 6, 8, 10, 12]
    assert model.asked[-1][0][:10] == model.asked[-2][0]


@pytest.mark.long
async def test_the_largest_values_of_a_run_travel_along_its_chain(client: Client) -> None:
    """Random text cannot be compressed; a run may have this much of it at every place at once."""
    schema = {"type": "object", "description": token_urlsafe(700_000)}
    four: list[tuple[str, JsonValue]] = [("look", {"text": token_urlsafe(200_000)})] * 4
    model = Replies(
        [
            AssistantMessage(text=token_urlsafe(600_000), tool_calls=calls(("look", {})).tool_calls),
            calls(*four),
            AssistantMessage(
                text=token_urlsafe(1_300_000)[: 1700 * 1024], tool_calls=calls(("look", {})).tool_calls
            ),
            says("Done."),
        ]
    )

    async def incompressible(_: RawValue) -> JsonValue:
        return token_urlsafe(780_000)

    tools = [tool("look", incompressible, inputSchema=schema)]
    async with asyncio.timeout(90), serving(client, model, tools) as queue:
        prompt, system = token_urlsafe(780_000), token_urlsafe(190_000)
        run = await start(client, queue, prompt=prompt, system=system, chain=EVERY_TURN)
        result = await run.result()
        chain = await chain_of(run, client)

    assert (result.answer, result.tool_executions, result.failed_tool_executions) == ("Done.", 6, 0)
    assert len(chain) == 4
    assert [len(given) for given, _ in model.asked] == [2, 4, 9, 11]


async def until_failing(run: WorkflowHandle[Any, Any], activity_type: str) -> str:
    """Wait until an activity of this type has failed, and tell why."""
    while True:
        described = await run.describe()
        for pending in described.raw_description.pending_activities:
            failure = pending.last_failure
            if pending.activity_type.name == activity_type and failure.message:
                return f"{failure.application_failure_info.type}: {failure.message}"
        await asyncio.sleep(0.05)
