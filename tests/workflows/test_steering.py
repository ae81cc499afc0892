"""Steering a run at work: what is paused begins nothing, limits only go up, and no word is forgotten."""

import asyncio
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from obstore.store import MemoryStore
from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.service import RPCError

from activities.model import ModelRefusedError
from activities.store.bucket import BucketStore
from surefoot.events import (
    LimitRaised,
    ModelUnavailable,
    RunFinished,
    RunPaused,
    RunResumed,
    TurnStarted,
)
from surefoot.run import PAUSE_UPDATE, RAISE_LIMIT_UPDATE, RESUME_UPDATE, Pause, RaiseLimit, Resume
from tests.workflows.agents import (
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
)
from tests.workflows.operators import pause, raise_limits, resume, send, update
from tests.workflows.test_chain import EVERY_TURN, events_of_chain, larger
from tests.workflows.test_send_message import Answering, Gate
from tests.workflows.test_sub_agents import ASK, agent, child_of

Run = WorkflowHandle[Any, Any]


async def refused(run: Run, name: str, argument: object) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as refusal:
        await update(run, name, argument)
    return str(refusal.value.cause)


async def refused_at_last(run: Run, name: str, argument: object) -> str:
    """Ask until the run is not just about to continue as new: then it would be right to ask again."""
    while (said := await refused(run, name, argument)).endswith("send it again"):  # noqa: ASYNC110  the server
        await asyncio.sleep(0.02)
    return said


def kinds(events: Any) -> list[str]:  # noqa: ANN401  a tuple or a list of events
    return [event.type for event in events]


async def test_a_paused_run_ends_what_runs_and_begins_neither_call_nor_turn(client: Client) -> None:
    first, second = Gate(), Gate()
    model = Replies([calls(("x", {}), ("y", {})), says("Done.")])
    tools = [tool("x", first.act, exclusive=True), tool("y", second.act, exclusive=True)]
    async with asyncio.timeout(30), serving(client, model, tools) as queue:
        run = await start(client, queue)
        await first.began.wait()
        await pause(run, "look at it first", "Ada")
        twice = await refused(run, PAUSE_UPDATE, Pause())
        first.go.set()
        await until_event(run, "tool_execution_completed")
        await send(run, "Mind the gap.")
        held = kinds(await events_of(run))
        begun_while_paused = second.began.is_set()

        await resume(run, "Bea")
        await second.began.wait()
        await pause(run)
        second.go.set()
        while kinds(await events_of(run)).count("tool_execution_completed") < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        turns_while_paused = kinds(await events_of(run)).count("turn_started")
        history = await run.fetch_history()
        await resume(run)
        finished = await finish(run)

    assert twice == "REFUSED: the run is paused already"
    assert held.count("tool_execution_scheduled") == 1
    assert (begun_while_paused, turns_while_paused) == (False, 1)
    assert not [event for event in history.events if event.HasField("timer_started_event_attributes")]
    told = [event for event in finished.events if isinstance(event, RunPaused | RunResumed)]
    assert [event.model_dump(exclude={"time"}) for event in told] == [
        {"type": "run_paused", "reason": "look at it first", "sender": "Ada"},
        {"type": "run_resumed", "sender": "Bea"},
        {"type": "run_paused", "reason": None, "sender": None},
        {"type": "run_resumed", "sender": None},
    ]
    assert (finished.result.answer, finished.result.tool_executions) == ("Done.", 2)


async def test_an_answer_that_comes_while_a_run_is_paused_ends_it(client: Client) -> None:
    model = Answering()
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue)
        await model.asking.wait()
        await pause(run)
        model.go.set()
        finished = await finish(run)

    assert kinds(finished.events)[-3:] == ["run_paused", "model_replied", "run_finished"]


async def test_limits_are_raised_or_lifted_for_a_run_at_work(client: Client) -> None:
    gate = Gate()
    model = Replies([calls(("x", {})), calls(("x", {})), calls(("x", {})), says("Done.")])
    limits = {"max_turns": 1, "max_tool_calls": 1}
    async with asyncio.timeout(20), serving(client, model, [tool("x", gate.act)]) as queue:
        run = await start(client, queue, limits=limits, chain=EVERY_TURN)
        await gate.began.wait()
        await pause(run)
        await raise_limits(run, {"max_turns": 4, "max_tool_calls": None}, sender="Ada", reason="nearly there")
        lower = await refused(run, RAISE_LIMIT_UPDATE, RaiseLimit(limits={"max_turns": 4}))
        await resume(run)
        gate.go.set()
        result = await run.result()
        events = await events_of_chain(run, client)

    (event,) = [event for event in events if isinstance(event, LimitRaised)]
    assert event.model_dump(exclude={"time"}) == {
        "type": "limit_raised",
        "limits": {"max_turns": 4, "max_tool_calls": None},
        "before": {"max_turns": 1, "max_tool_calls": 1},
        "reason": "nearly there",
        "sender": "Ada",
    }
    assert lower == "REFUSED: max_turns is 4 already, and limits only go up"
    assert (result.status, result.turns, result.tool_executions) == ("completed", 4, 3)


async def test_a_run_in_its_closing_turn_is_neither_paused_nor_given_more(client: Client) -> None:
    model = Answering()
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue, limits={"max_seconds": 0.001})
        await model.asking.wait()
        refusals = [
            await refused(run, PAUSE_UPDATE, Pause()),
            await refused(run, RAISE_LIMIT_UPDATE, RaiseLimit(limits={"max_seconds": None})),
            await refused(run, RESUME_UPDATE, Resume()),
        ]
        model.go.set()
        finished = await finish(run)

    closing = "REFUSED: the run is closing: its model was told to answer with what it has"
    assert refusals == [closing] * 3
    assert finished.result.status == "limit_reached"


@pytest.mark.parametrize("limits", [{}, {"max_seconds": 0.001}], ids=["in a turn", "in the closing turn"])
async def test_a_run_waits_for_its_model_and_takes_the_same_turn_again(
    client: Client, limits: Mapping[str, JsonValue]
) -> None:
    model = Replies([ModelRefusedError("401: the key has expired"), says("Done.")])
    async with asyncio.timeout(20), serving(client, model) as queue:
        run = await start(client, queue, on_model_failure="wait", limits=limits)
        await until_event(run, "model_unavailable")
        paused = await refused(run, PAUSE_UPDATE, Pause())
        await resume(run, "Ada")
        finished = await finish(run)

    (away,) = [event for event in finished.events if isinstance(event, ModelUnavailable)]
    assert (away.turn, away.reason) == (1, "401: the key has expired")
    assert paused == "REFUSED: the run waits for its model already; resume lets it ask again"
    assert [event.turn for event in finished.events if isinstance(event, TurnStarted)] == [1, 1]
    assert (finished.result.answer, finished.result.turns) == ("Done.", 1)


async def test_an_agent_waits_for_its_model_as_its_caller_would(client: Client) -> None:
    reviewer = Replies([ModelRefusedError("401: the key has expired"), says("All is well.")])
    model = Replies([calls(ASK), says("Done.")])
    async with (
        asyncio.timeout(20),
        serving(
            client, model, [agent("reviewer")], models={"reviewer": reviewer}, of_agents={"reviewer": []}
        ) as q,
    ):
        run = await start(client, q, on_model_failure="wait")
        await until_event(run, "tool_execution_started")
        child = child_of(run, client)
        await pause(run)
        await until_event(child, "model_unavailable")
        await resume(child)
        await until_event(run, "tool_execution_completed")
        await resume(run)
        finished = await finish(run)

    assert [outcome.tool_success for outcome in finished.outcomes] == [True]


async def test_what_comes_before_a_run_has_begun_is_kept(client: Client) -> None:
    run = await start(client, queue := "nobody-yet-steering", limits={"max_turns": 3})
    sending = asyncio.create_task(pause(run, "not yet"))
    async with asyncio.timeout(20):
        async with serving(client, Replies([says("Done.")]), queue=queue):
            await sending
            await until_event(run, "run_paused")
            await resume(run)
            finished = await finish(run)

    assert kinds(finished.events)[:4] == ["run_started", "run_paused", "run_resumed", "turn_started"]


async def test_a_paused_run_can_be_cancelled_and_its_ledger_says_why(client: Client) -> None:
    gate = Gate()
    async with asyncio.timeout(20), serving(client, Replies([calls(("x", {}))]), [tool("x", gate.act)]) as q:
        run = await start(client, q)
        await gate.began.wait()
        await pause(run)
        gate.go.set()
        await until_event(run, "tool_execution_completed")
        await run.cancel(reason="it costs too much")
        with pytest.raises(WorkflowFailureError):
            await run.result()
        (*_, last) = await events_of(run)

    assert isinstance(last, RunFinished)
    assert (last.status, last.error) == ("cancelled", "it costs too much")


async def test_a_run_that_is_not_paused_is_not_resumed(client: Client) -> None:
    async with asyncio.timeout(20), serving(client, Silent()) as queue:
        run = await start(client, queue)
        await until_event(run, "turn_started")
        answer_to_resume = await refused(run, RESUME_UPDATE, Resume())
        events = await events_of(run)
        await run.terminate()

    assert answer_to_resume == "REFUSED: the run is not paused"
    assert kinds(events) == ["run_started", "turn_started"]


@pytest.mark.long
@pytest.mark.parametrize("operators", [1, 3])
async def test_no_steering_is_taken_and_forgotten_when_it_comes_at_the_end_of_a_run(
    client: Client, operators: int
) -> None:
    """A run continues as new with each turn while others raise its limits, as fast as they can."""
    looking = Replies([*[calls(("look", {}))] * 6, says("Done.")])
    taken: list[int] = []

    async def operate(run: Run, own: int) -> None:
        limit = 100 * own
        while True:
            limit += 1
            try:
                await raise_limits(run, {"max_turns": limit * 10 + own})
            except WorkflowUpdateFailedError:
                continue
            except RPCError:
                return
            taken.append(limit * 10 + own)

    async with asyncio.timeout(40), serving(client, looking, [tool("look", answer)]) as queue:
        run = await start(client, queue, chain=EVERY_TURN)
        await asyncio.gather(*(operate(run, own) for own in range(operators)))
        result = await run.result()
        events = await events_of_chain(run, client)

    told = [event for event in events if isinstance(event, LimitRaised)]
    assert sorted(event.limits["max_turns"] for event in told) == sorted(taken)  # pyright: ignore[reportArgumentType]  all are numbers
    assert all(after.before == before.limits for before, after in pairwise(told))
    assert result.turns == 7


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param(PAUSE_UPDATE, [{"reason": 5}], id="a reason that is a number"),
        pytest.param(RAISE_LIMIT_UPDATE, [dict[str, object]()], id="no limits"),
        pytest.param(RAISE_LIMIT_UPDATE, [{"limits": [1]}], id="a list of limits"),
        pytest.param(RAISE_LIMIT_UPDATE, [], id="no argument"),
        pytest.param(RAISE_LIMIT_UPDATE, ["max_turns"], id="text"),
    ],
)
async def test_a_form_that_is_filled_in_wrongly_is_refused(
    client: Client, name: str, arguments: list[object]
) -> None:
    async with asyncio.timeout(20), serving(client, Silent()) as queue:
        run = await start(client, queue)
        with pytest.raises(WorkflowUpdateFailedError):
            await update(run, name, *arguments)
        await update(run, PAUSE_UPDATE)
        await update(run, RESUME_UPDATE, {"sender": "Ada", "color": "red"})
        events = await events_of(run)
        await run.terminate()

    assert [kind for kind in kinds(events) if kind != "turn_started"] == [
        "run_started",
        "run_paused",
        "run_resumed",
    ]


class SlowStore(BucketStore):
    """A store that keeps nothing before it is let."""

    def __init__(self) -> None:
        super().__init__(MemoryStore(), location="memory")
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def put(self, key: str, data: bytes) -> None:
        self.asked.set()
        await self.go.wait()
        await super().put(key, data)


async def test_what_is_done_to_a_run_just_as_it_continues_as_new_goes_along(client: Client) -> None:
    store, model = SlowStore(), Replies([*[calls(("look", {}))] * 3, says("Done.")])
    looks = [tool("look", larger)]
    async with asyncio.timeout(30), serving(client, model, looks, store=store) as queue:
        run = await start(client, queue, chain=EVERY_TURN, limits={"max_tool_calls": 3})
        await store.asked.wait()
        await pause(run, "just now")
        await raise_limits(run, {"max_tool_calls": 4})
        store.go.set()
        while (await run.describe()).run_id == run.first_execution_run_id:  # noqa: ASYNC110  the server
            await asyncio.sleep(0.02)
        again = await refused_at_last(run, PAUSE_UPDATE, Pause())
        lower = await refused_at_last(run, RAISE_LIMIT_UPDATE, RaiseLimit(limits={"max_tool_calls": 4}))
        turns = len(model.asked)
        await resume(run)
        result = await run.result()

    assert again == "REFUSED: the run is paused already"
    assert lower == "REFUSED: max_tool_calls is 4 already, and limits only go up"
    assert (turns, result.status, result.turns) == (1, "completed", 4)
