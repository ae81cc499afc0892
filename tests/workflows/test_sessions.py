"""Sessions: a run that goes on after its answers, until nobody says anything more."""

import asyncio
import secrets
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.testing import WorkflowEnvironment

from surefoot.events import Answered, RunFinished
from surefoot.run import END_SESSION_UPDATE, SEND_MESSAGE_UPDATE, WORKFLOW, EndSession, RunResult, SendMessage
from tests.workflows.agents import (
    Finished,
    Replies,
    Silent,
    answer,
    calls,
    events_of,
    finish,
    says,
    serving,
    start,
    tool,
    until_event,
    until_history_holds,
)
from tests.workflows.operators import update
from tests.workflows.test_chain import EVERY_TURN, chain_of, events_of_chain
from tests.workflows.test_send_message import texts

pytestmark = pytest.mark.slow


async def tell(run: WorkflowHandle[Any, Any], message_id: str) -> None:
    """Send a message whose text is its id."""
    await update(run, SEND_MESSAGE_UPDATE, SendMessage(text=message_id, message_id=message_id))


async def end(run: WorkflowHandle[Any, Any]) -> None:
    await update(run, END_SESSION_UPDATE, EndSession())


async def refusal(run: WorkflowHandle[Any, Any]) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await end(run)
    return str(refused.value.cause)


async def until_answered(run: WorkflowHandle[Any, Any], times: int) -> list[Answered]:
    """Wait until the newest run of the session has answered as often."""
    while len(answered := [one for one in await events_of(run) if isinstance(one, Answered)]) < times:  # noqa: ASYNC110  another process
        await asyncio.sleep(0.01)
    return answered


def answers(finished: Finished) -> list[tuple[int, str, tuple[str, ...]]]:
    told = [event for event in finished.events if isinstance(event, Answered)]
    return [(event.turn, event.answer, event.answers) for event in told]


async def test_a_session_answers_each_message_and_waits_for_the_next_until_it_is_ended(
    client: Client,
) -> None:
    model = Replies([says("One."), calls(("look", {})), says("Two."), says("Three.")])
    async with asyncio.timeout(20), serving(client, model, [tool("look", answer)]) as queue:
        run = await start(client, queue, session={})
        for count, message in enumerate(("second", "third"), 1):
            await until_answered(run, count)
            await tell(run, message)
        await until_answered(run, 3)
        await end(run)
        finished = await finish(run)

    assert answers(finished) == [(1, "One.", ()), (3, "Two.", ("second",)), (4, "Three.", ("third",))]
    assert texts(finished.messages) == ["Do it.", "second", "third"]
    assert (finished.result.status, finished.result.answer, finished.result.turns) == (
        "completed",
        "Three.",
        4,
    )
    assert [event.type for event in finished.events].count("run_finished") == 1


async def test_a_session_may_begin_with_its_first_message(client: Client) -> None:
    model = Replies([says("Hello.")])
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue, prompt="", session={})
        await tell(run, "Hi!")
        await until_answered(run, 1)
        await end(run)
        finished = await finish(run)

    assert answers(finished) == [(1, "Hello.", ("Hi!",))]
    assert [getattr(message, "purpose", None) for message in finished.messages] == [None, "prompt", None]


async def test_one_call_starts_or_continues_a_session(client: Client) -> None:
    workflow_id = f"session-{secrets.token_hex(4)}"

    async def say(message_id: str, queue: str) -> WorkflowHandle[Any, Any]:
        # The SDK's overloads leave type arguments open.
        starting: Any = WithStartWorkflowOperation(  # pyright: ignore[reportUnknownVariableType]
            WORKFLOW,
            {"prompt": "", "model": "replies", "session": {}},
            id=workflow_id,
            task_queue=queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            result_type=RunResult,
        )
        message = SendMessage(text=message_id, message_id=message_id)
        await client.execute_update_with_start_workflow(  # pyright: ignore[reportUnknownMemberType]
            SEND_MESSAGE_UPDATE, message, start_workflow_operation=starting
        )
        return await starting.workflow_handle()

    async with asyncio.timeout(20), serving(client, Replies([says("One."), says("Two.")])) as queue:
        run = await say("first", queue)
        await until_answered(run, 1)
        again = await say("second", queue)
        await until_answered(again, 2)
        await end(run)
        finished = await finish(run)

    assert again.first_execution_run_id == run.first_execution_run_id
    assert answers(finished) == [(1, "One.", ("first",)), (2, "Two.", ("second",))]


async def test_a_session_of_which_nothing_more_is_asked_completes_with_its_last_answer(
    time_skipping: WorkflowEnvironment,
) -> None:
    week = 7 * 86_400
    async with asyncio.timeout(20), serving(time_skipping.client, Replies([says("One.")])) as queue:
        run = await start(time_skipping.client, queue, session={"idle_seconds": week})
        finished = await finish(run)

    first, last = (event for event in finished.events if isinstance(event, Answered | RunFinished))
    assert (finished.result.status, finished.result.answer) == ("completed", "One.")
    assert week <= (last.time - first.time).total_seconds() < week + 60


async def test_a_session_that_waits_adds_nothing_to_its_history_and_can_be_cancelled(client: Client) -> None:
    async with asyncio.timeout(20), serving(client, Replies([says("One.")])) as queue:
        run = await start(client, queue, session={})
        await until_answered(run, 1)
        kinds = [event.event_type for event in (await run.fetch_history()).events]
        await run.cancel()
        with pytest.raises(WorkflowFailureError):
            await run.result()
        finished = (await events_of(run))[-1]

    assert EventType.EVENT_TYPE_TIMER_STARTED not in kinds
    assert isinstance(finished, RunFinished)
    assert finished.status == "cancelled"


async def test_what_does_not_wait_for_a_message_is_not_ended(client: Client) -> None:
    async with asyncio.timeout(20), serving(client, Silent()) as queue:
        asked, plain = await start(client, queue, session={}), await start(client, queue)
        await until_event(asked, "turn_started")
        await until_event(plain, "turn_started")
        refused = {await refusal(asked), await refusal(plain)}
        for run in (asked, plain):
            await run.terminate()

    assert refused == {
        "REFUSED: the run does not wait for a message: end a session once it has answered, or cancel the run"
    }


async def test_a_limit_ends_a_session_with_its_closing_answer(client: Client) -> None:
    model = Replies([says("One."), says("That is all.")])
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue, session={}, limits={"max_turns": 1})
        await until_answered(run, 1)
        await tell(run, "more")
        finished = await finish(run)

    assert answers(finished) == [(1, "One.", ())]
    assert (finished.result.status, finished.result.answer) == ("limit_reached", "That is all.")


async def test_an_answer_of_a_session_fits_the_schema_each_time(client: Client) -> None:
    model = Replies([says("1"), says("two"), says("2")])
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue, session={}, output_schema={"type": "integer"})
        await until_answered(run, 1)
        await tell(run, "next")
        answered = await until_answered(run, 2)
        await end(run)
        finished = await finish(run)

    assert [(one.turn, one.output) for one in answered] == [(1, 1), (3, 2)]
    assert finished.result.output == 2


async def test_a_session_that_continues_as_new_loses_and_repeats_nothing(client: Client) -> None:
    model = Replies([says(f"Answer {n}.") for n in range(1, 6)])
    async with asyncio.timeout(30), serving(client, model) as queue:
        run = await start(client, queue, session={}, chain=EVERY_TURN)
        await until_answered(run, 1)
        here = client.get_workflow_handle(run.id)
        for n in range(2, 6):
            await tell(here, str(n))
            while (await events_of(here))[-1].type != "answered":  # noqa: ASYNC110  another process
                await asyncio.sleep(0.01)
        await end(here)
        result = await run.result()
        events, chain = await events_of_chain(run, client), await chain_of(run, client)

    told = [(one.answer, one.answers) for one in events if isinstance(one, Answered)]
    assert told == [("Answer 1.", ()), *((f"Answer {n}.", (str(n),)) for n in range(2, 6))]
    assert texts(model.asked[-1][0]) == ["Do it.", "2", "3", "4", "5"]
    assert (result.answer, len(chain)) == ("Answer 5.", 5)


async def test_what_an_idle_session_waits_for_is_written_on_its_timer(client: Client) -> None:
    async with asyncio.timeout(20), serving(client, Replies([says("One.")])) as queue:
        run = await start(client, queue, session={"idle_seconds": 3600})
        await until_history_holds(run, EventType.EVENT_TYPE_TIMER_STARTED)
        history = await run.fetch_history()
        await run.terminate()

    (timer,) = [one for one in history.events if one.event_type is EventType.EVENT_TYPE_TIMER_STARTED]
    assert timer.user_metadata.summary.data == b'"the next message, else the session ends"'
