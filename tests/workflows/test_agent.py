import asyncio
from datetime import timedelta

import pytest
from pydantic import JsonValue
from temporalio import activity
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError, CancelledError
from temporalio.testing import WorkflowEnvironment

from activities.conversation_cache import ConversationCache
from activities.interface import LLM_TURN, LlmTurnInput
from activities.model import ModelRefusedError, ModelUnavailableError
from surefoot.conversation import AssistantMessage, ToolMessage, UserMessage
from surefoot.events import RunFinished
from surefoot.outcome import ToolSuccess
from surefoot.run import WORKFLOW
from surefoot.usage import Usage
from tests.workflows.agents import (
    Replies,
    Silent,
    answer,
    calls,
    events_of,
    finish,
    messages_of,
    never,
    run_agent,
    says,
    serving,
    start,
    tool,
    until_event,
    until_history_holds,
)

A_AND_B: list[tuple[str, JsonValue]] = [("a", {}), ("b", {})]


async def test_a_run_ends_with_the_models_answer_and_what_it_cost(time_skipping: WorkflowEnvironment) -> None:
    finished = await run_agent(
        time_skipping.client, [calls(("look", {}), ("lok", {})), says("Done.")], [tool("look", answer)]
    )

    assert finished.result.model_dump() == {
        "status": "completed",
        "answer": "Done.",
        "output": None,
        "reason": None,
        "turns": 2,
        "tool_executions": 2,
        "failed_tool_executions": 1,
        "usage": Usage(requests=2, input_tokens=20, output_tokens=4).model_dump(),
        "tool_calls": 2,
    }


async def test_the_ledger_tells_every_step_in_order(time_skipping: WorkflowEnvironment) -> None:
    finished = await run_agent(
        time_skipping.client, [calls(("look", {})), says("Done.")], [tool("look", answer)]
    )

    assert [event.type for event in finished.events] == [
        "run_started",
        "turn_started",
        "model_replied",
        "tool_execution_scheduled",
        "tool_execution_started",
        "tool_execution_completed",
        "turn_started",
        "model_replied",
        "run_finished",
    ]


async def test_outcomes_join_the_conversation_in_the_order_the_model_asked(
    time_skipping: WorkflowEnvironment,
) -> None:
    first_may_end = asyncio.Event()

    async def first(_: RawValue) -> str:
        await first_may_end.wait()
        return "first"

    async def second(_: RawValue) -> str:
        first_may_end.set()
        return "second"

    finished = await run_agent(
        time_skipping.client,
        [calls(("first", {}), ("second", {})), says("Done.")],
        [tool("first", first), tool("second", second)],
    )

    assert finished.outcomes == [
        ToolSuccess(tool="first", result="first"),
        ToolSuccess(tool="second", result="second"),
    ]


async def test_exclusive_tools_never_run_side_by_side(time_skipping: WorkflowEnvironment) -> None:
    running = most = 0

    async def count(_: RawValue) -> JsonValue:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1

    exclusive = [tool("a", count, exclusive=True), tool("b", count, exclusive=True)]
    await run_agent(time_skipping.client, [calls(*A_AND_B * 3), says("Done.")], exclusive)

    assert most == 1


async def test_at_most_32_calls_of_a_run_are_in_flight(time_skipping: WorkflowEnvironment) -> None:
    running = most = 0
    full = asyncio.Event()

    async def count(_: RawValue) -> JsonValue:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 32:
            full.set()
        await asyncio.wait_for(full.wait(), 30)
        # A 33rd would be scheduled by now if there were one.
        await asyncio.sleep(0.05)
        running -= 1

    finished = await run_agent(
        time_skipping.client, [calls(*A_AND_B[:1] * 80), says("Done.")], [tool("a", count)]
    )

    assert (most, len(finished.outcomes)) == (32, 80)


async def test_at_its_turn_limit_the_model_is_told_to_answer_with_what_it_has(
    time_skipping: WorkflowEnvironment,
) -> None:
    model = Replies([calls(("look", {})), calls(("look", {})), says("What I have.")])
    async with serving(time_skipping.client, model, [tool("look", answer)]) as queue:
        finished = await finish(await start(time_skipping.client, queue, limits={"max_turns": 2}))

    last_messages, closing = model.asked[-1]
    assert (finished.result.status, finished.result.reason, finished.result.answer) == (
        "limit_reached",
        "limit of 2 turns",
        "What I have.",
    )
    assert closing
    assert isinstance(last_messages[-1], UserMessage)
    assert last_messages[-1].purpose == "closing"


async def test_calls_made_in_the_closing_turn_are_answered_and_not_made(
    time_skipping: WorkflowEnvironment,
) -> None:
    finished = await run_agent(
        time_skipping.client,
        [calls(("look", {})), AssistantMessage(text="One more.", tool_calls=calls(("look", {})).tool_calls)],
        [tool("look", answer)],
        limits={"max_turns": 1},
    )

    assert [outcome.model_dump().get("error_code") for outcome in finished.outcomes] == [
        None,
        "LIMIT_REACHED",
    ]
    assert (finished.result.status, finished.result.answer) == ("limit_reached", "One more.")


async def test_a_provider_that_is_down_for_hours_only_delays_the_run(
    time_skipping: WorkflowEnvironment,
) -> None:
    outage = [ModelUnavailableError("503 overloaded", timedelta(hours=1)) for _ in range(5)]

    finished = await run_agent(time_skipping.client, [*outage, says("Done.")])

    took = finished.events[-1].time - finished.events[0].time
    assert finished.result.answer == "Done."
    assert timedelta(hours=5) <= took < timedelta(hours=6)


async def test_a_provider_that_stays_down_fails_the_run_after_its_patience(
    time_skipping: WorkflowEnvironment,
) -> None:
    outage = [ModelUnavailableError("503 overloaded", timedelta(hours=1)) for _ in range(9)]

    with pytest.raises(WorkflowFailureError) as failure:
        await run_agent(time_skipping.client, outage)

    assert str(failure.value.cause) == "RUN_FAILED: 503 overloaded"


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        pytest.param([ModelRefusedError("401: no such key")], "RUN_FAILED: 401: no such key", id="a bad key"),
        pytest.param(
            [AssistantMessage(unreadable="it was empty")] * 3,
            "RUN_FAILED: the model keeps giving replies that cannot be read: it was empty",
            id="three unreadable replies",
        ),
    ],
)
async def test_only_the_model_can_fail_a_run(
    time_skipping: WorkflowEnvironment, replies: list[AssistantMessage | Exception], reason: str
) -> None:
    async with serving(time_skipping.client, Replies(replies)) as queue:
        handle = await start(time_skipping.client, queue)
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()
        last = (await events_of(handle))[-1]

    assert str(failure.value.cause) == reason
    assert isinstance(last, RunFinished)
    assert (last.status, last.error) == ("failed", reason.removeprefix("RUN_FAILED: "))


async def test_a_reply_that_cannot_be_read_is_answered_with_what_was_wrong(
    time_skipping: WorkflowEnvironment,
) -> None:
    finished = await run_agent(
        time_skipping.client, [AssistantMessage(unreadable="it was empty"), says("Sorry. Done.")]
    )

    told = [m.text for m in finished.messages if isinstance(m, UserMessage) and m.purpose == "correction"]
    assert told == ["Your last reply could not be read: it was empty. Reply again."]


async def test_a_cancelled_run_ends_as_cancelled_and_says_so(time_skipping: WorkflowEnvironment) -> None:
    async with serving(time_skipping.client, Replies([calls(("hang", {}))]), [tool("hang", never)]) as queue:
        handle = await start(time_skipping.client, queue)
        await until_event(handle, "tool_execution_scheduled")
        await handle.cancel()
        with pytest.raises(WorkflowFailureError) as failure:
            await handle.result()
        last = (await events_of(handle))[-1]

    assert isinstance(failure.value.cause, CancelledError)
    assert isinstance(last, RunFinished)
    assert last.status == "cancelled"


async def test_a_cancelled_run_waits_for_every_call_though_one_of_them_never_started(client: Client) -> None:
    """One call holds the lock and is being killed, the other still waits for it."""

    async def beat(_: RawValue) -> JsonValue:
        while True:
            activity.heartbeat()
            await asyncio.sleep(0.05)

    tools = [tool(name, beat, exclusive=True, heartbeatSeconds=1) for name in ("a", "b")]
    async with serving(client, Replies([calls(*A_AND_B)]), tools) as queue:
        handle = await start(client, queue)
        await until_event(handle, "tool_execution_scheduled")
        await handle.cancel()
        with pytest.raises(WorkflowFailureError):
            await handle.result()

    history = (await handle.fetch_history()).events
    assert [event.event_type for event in history].count(EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("just a prompt", id="text"),
        pytest.param({"prompt": "x"}, id="no model"),
        pytest.param({"prompt": 7, "model": "m"}, id="a number as prompt"),
    ],
)
async def test_an_input_that_is_none_fails_the_run_instead_of_wedging_it(
    time_skipping: WorkflowEnvironment, wrong: object
) -> None:
    async with serving(time_skipping.client, Replies([])) as queue:
        with pytest.raises(WorkflowFailureError) as failure:
            await time_skipping.client.execute_workflow(WORKFLOW, wrong, id="wrong", task_queue=queue)

    assert isinstance(failure.value.cause, ApplicationError)
    assert "RunInput cannot be read" in failure.value.cause.message


async def test_a_turn_carries_only_what_is_new(time_skipping: WorkflowEnvironment) -> None:
    async with serving(
        time_skipping.client,
        Replies([calls(("look", {})), calls(("look", {})), says("Done.")]),
        [tool("look", answer)],
    ) as queue:
        handle = await start(time_skipping.client, queue)
        await handle.result()
        turns = [
            LlmTurnInput.model_validate_json(
                event.activity_task_scheduled_event_attributes.input.payloads[0].data
            )
            async for event in handle.fetch_history_events()
            if event.activity_task_scheduled_event_attributes.activity_type.name == "llm_turn"
        ]

    assert [[message.role for message in turn.new_messages] for turn in turns] == [
        ["system", "user"],
        ["tool"],
        ["tool"],
    ]
    assert [turn.prefix.length for turn in turns] == [0, 3, 5]


async def test_a_worker_that_remembers_nothing_asks_the_run_for_the_conversation(
    time_skipping: WorkflowEnvironment,
) -> None:
    model = Replies([calls(("look", {})), calls(("look", {})), says("Done.")])
    forgetful = ConversationCache(max_runs=0)
    async with serving(time_skipping.client, model, [tool("look", answer)], cache=forgetful) as queue:
        handle = await start(time_skipping.client, queue)
        await handle.result()
        messages = await messages_of(handle)

    given = [tuple(seen) for seen, _ in model.asked]
    assert given == [messages[:2], messages[:4], messages[:6]]


async def test_new_messages_that_are_too_large_travel_by_query(time_skipping: WorkflowEnvironment) -> None:
    large = "x" * 200_000

    async def tell(_: RawValue) -> str:
        return large

    model = Replies([calls(("tell", {}), ("tell", {})), says("Done.")])
    async with serving(time_skipping.client, model, [tool("tell", tell)]) as queue:
        handle = await start(time_skipping.client, queue)
        await handle.result()

    results = [m.outcome for m in model.asked[1][0] if isinstance(m, ToolMessage)]
    assert results == [ToolSuccess(tool="tell", result=large)] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "patience",
    [
        pytest.param({"total_seconds": 1, "attempt_seconds": 600}, id="a turn that is interrupted"),
        pytest.param({"total_seconds": 3, "attempt_seconds": 600}, id="a turn that waits for its worker"),
    ],
)
async def test_a_run_that_was_left_alone_for_longer_than_its_patience_goes_on(
    client: Client, patience: dict[str, float]
) -> None:
    async with serving(client, Silent()) as queue:
        handle = await start(client, queue, model_patience=patience)
        await until_event(handle, "turn_started")
    await until_history_holds(
        handle, EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED
    )

    async with serving(client, Replies([says("Done.")]), queue=queue):
        finished = await finish(handle)

    assert finished.result.answer == "Done."


async def test_a_run_that_is_told_its_tools_asks_nobody_for_them(time_skipping: WorkflowEnvironment) -> None:
    look = tool("look", answer)
    async with serving(time_skipping.client, Replies([calls(("look", {})), says("Done.")]), [look]) as queue:
        run = await start(time_skipping.client, queue, tools=(look.definition,))
        result = await run.result()
        history = await run.fetch_history()

    scheduled = [
        event.activity_task_scheduled_event_attributes.activity_type.name
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert (result.answer, scheduled) == ("Done.", [LLM_TURN, "look", LLM_TURN])
