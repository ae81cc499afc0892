"""Agents that are called as tools, each call a child workflow, on the real server."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import RawValue
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from activities.interface import LlmTurnResult
from activities.model import ModelRefusedError
from surefoot.conversation import AssistantMessage, Message
from surefoot.events import ToolExecutionFailed, ToolExecutionStarted
from surefoot.limits import Limits
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import WORKFLOW, RunInput, RunResult
from surefoot.strict_json import json_bytes
from tests.workflows.agents import (
    FakeTool,
    Finished,
    Replies,
    Silent,
    answer,
    calls,
    finish,
    never,
    says,
    serving,
    start,
    tool,
    until_event,
)
from tests.workflows.operators import cancel_call

pytestmark = pytest.mark.slow

ASK: tuple[str, JsonValue] = ("reviewer", {"prompt": "Look at it."})
PROMPT: JsonValue = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "minLength": 1}},
    "required": ["prompt"],
}


def agent(name: str, **settings: JsonValue) -> FakeTool:
    """An agent as a tool; its model is named after it."""
    return tool(name, never, inputSchema=PROMPT, agent={"key": name, "model": name, **settings})


def failures_of(finished: Finished) -> list[ToolFailure]:
    return [outcome for outcome in finished.outcomes if isinstance(outcome, ToolFailure)]


class FallsSilent(Replies):
    """A model that never gives another reply after its last."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        if len(self.asked) == len(self.replies):
            return await Silent().reply(messages, closing=closing)
        return await super().reply(messages, closing=closing)


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
    assert (started.child_id, started.executor) == (f"{run.id}/1-1", f"{run.id}/1-1 ({child.run_id})")
    assert (finished.result.usage.requests, finished.result.tool_calls) == (4, 2)
    assert (child.parent_id, await child.static_summary()) == (run.id, "reviewer • Look at it.")
    details = await child.static_details() or ""
    assert details.startswith(f"**reviewer**, asked by `{run.id}` in call `1-1` · model `reviewer`")


async def cancel(child: WorkflowHandle[Any, Any]) -> None:
    await child.cancel()


async def terminate(child: WorkflowHandle[Any, Any]) -> None:
    await child.terminate()


@dataclass(frozen=True)
class Fate:
    """What befalls a child that has asked its model, and what its caller's model is told."""

    does: Callable[[WorkflowHandle[Any, Any]], Awaitable[None]]
    code: str
    error: str
    requests: int
    """Of caller and child, as far as it is known."""


CANCELLED = Fate(cancel, "TOOL_CANCELLED", "Tool 'reviewer' was cancelled by an operator", 3)
TERMINATED = Fate(
    terminate,
    "TOOL_LOST",
    "Tool 'reviewer' was lost: its run was terminated; it may or may not have taken effect",
    2,
)


@pytest.mark.parametrize(
    "fate", [pytest.param(CANCELLED, id="cancelled"), pytest.param(TERMINATED, id="terminated")]
)
async def test_what_befalls_a_child_is_told_and_what_it_said_it_used_is_counted(
    client: Client, fate: Fate
) -> None:
    async with serving(
        client,
        Replies([calls(ASK), says("Done.")]),
        [agent("reviewer")],
        models={"reviewer": FallsSilent([calls(("look", {}))])},
        of_agents={"reviewer": [tool("look", answer)]},
    ) as queue:
        run = await start(client, queue)
        await until_event(run, "tool_execution_started")
        await until_event(child_of(run, client), "tool_execution_completed")
        await fate.does(child_of(run, client))
        finished = await finish(run)

    assert [(o.error_code, o.error) for o in failures_of(finished)] == [(fate.code, fate.error)]
    assert finished.result.usage.requests == fate.requests


async def test_a_call_that_an_operator_cancels_cancels_its_run(client: Client) -> None:
    async with serving(
        client, Replies([calls(ASK), says("Done.")]), [agent("reviewer")], models={"reviewer": Silent()}
    ) as queue:
        run = await start(client, queue)
        await until_event(run, "tool_execution_started")
        await cancel_call(run, "1-1")
        finished = await finish(run)
        child = await child_of(run, client).describe()

    assert [outcome.error_code for outcome in failures_of(finished)] == ["TOOL_CANCELLED"]
    assert child.status == WorkflowExecutionStatus.CANCELED


async def test_a_cancelled_run_waits_for_its_children_and_theirs(client: Client) -> None:
    async with serving(
        client,
        Replies([calls(ASK, ("writer", {"prompt": "Write."}))]),
        [agent("reviewer"), agent("writer")],
        models={"reviewer": Replies([calls(ASK)]), "writer": Silent(), "reader": Silent()},
        of_agents={"reviewer": [agent("reviewer", model="reader")]},
    ) as queue:
        run = await start(client, queue)
        await until_event(run, "tool_execution_started")
        await until_event(child_of(run, client), "tool_execution_started")
        await run.cancel()
        with pytest.raises(WorkflowFailureError):
            await run.result()
        family = [run, *(child_of(run, client, call) for call in ("1-1", "1-2", "1-1/1-1"))]
        ended = [await one.describe() for one in family]

    assert {one.status for one in ended} == {WorkflowExecutionStatus.CANCELED}
    assert all((one.close_time or end) <= end for one in ended if (end := ended[0].close_time) is not None)


@pytest.mark.parametrize(
    ("settings", "replies", "result"),
    [
        pytest.param(
            {"limits": {"max_turns": 1}},
            [calls(("look", {})), says("So far.")],
            {"status": "limit_reached", "answer": "So far.", "reason": "limit of 1 turn", "turns": 2},
            id="it reached a limit of its own",
        ),
        pytest.param(
            {"outputSchema": {"type": "array"}},
            [says("[1, 2]")],
            {"status": "completed", "answer": "[1, 2]", "reason": None, "turns": 1, "output": [1, 2]},
            id="its answer fits its schema",
        ),
    ],
)
async def test_what_a_child_answers_is_told(
    client: Client,
    settings: Mapping[str, JsonValue],
    replies: Sequence[AssistantMessage],
    result: JsonValue,
) -> None:
    finished = await run_with(client, [calls(ASK), says("Done.")], replies, settings=settings)

    assert finished.outcomes == [ToolSuccess(tool="reviewer", result=result)]


REFUSED = "Tool 'reviewer' was not called"


@pytest.mark.parametrize(
    ("limits", "call", "error"),
    [
        pytest.param(
            {"max_tool_calls": 1},
            ASK,
            f"{REFUSED}: nothing is left of the limit of 1 tool call",
            id="the caller has no tool calls left",
        ),
        pytest.param(
            {},
            ("reviewer", {"prompt": " \n"}),
            f"{REFUSED}, its params are invalid: prompt: the prompt is empty",
            id="the prompt is blank",
        ),
    ],
)
async def test_no_run_is_started_in_vain(
    client: Client, limits: Mapping[str, JsonValue], call: tuple[str, JsonValue], error: str
) -> None:
    finished = await run_with(client, [calls(call), says("Done.")], [], run={"limits": limits})

    assert [outcome.error for outcome in failures_of(finished)] == [error]
    assert "tool_execution_scheduled" not in {event.type for event in finished.events}


async def test_a_child_that_fails_says_why_and_what_it_used(client: Client) -> None:
    replies = [calls(("look", {})), ModelRefusedError("the key is refused")]
    finished = await run_with(client, [calls(ASK), says("Done.")], replies)

    assert [(outcome.error_code, outcome.error) for outcome in failures_of(finished)] == [
        ("TOOL_CRASHED", "Tool 'reviewer' crashed: its run failed: the key is refused")
    ]
    assert (finished.result.usage.requests, finished.result.tool_calls) == (3, 2)


async def test_an_answer_above_the_models_limit_is_cut_and_kept_in_the_childs_history(client: Client) -> None:
    finished = await run_with(client, [calls(ASK), says("Done.")], [says("é" * 100_000)])

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolSuccess)
    assert isinstance(outcome.result, dict)
    answered = outcome.result["answer"]
    assert isinstance(answered, str)
    assert json_bytes(outcome.result) <= 102_400
    assert "[OUTPUT TRUNCATED - exceeded 100KB limit]" in answered
    assert outcome.result["truncated"] is True
    assert str(outcome.result["note"]).endswith("/1-1` prints the whole answer")


async def test_an_id_that_another_run_has_is_told(client: Client) -> None:
    free = asyncio.Event()

    async def hold(_: RawValue) -> JsonValue:
        await free.wait()
        return {}

    replies = Replies([calls(("hold", {})), calls(ASK), says("Done.")])
    models = {"silent": Silent()}
    async with serving(client, replies, [tool("hold", hold), agent("reviewer")], models=models) as queue:
        run = await start(client, queue)
        other = await client.start_workflow(
            WORKFLOW, RunInput(prompt="p", model="silent"), id=f"{run.id}/2-1", task_queue=queue
        )
        free.set()
        finished = await finish(run)
        await other.terminate()

    assert [(outcome.error_code, outcome.error) for outcome in failures_of(finished)] == [
        (
            "TOOL_CRASHED",
            f"Tool 'reviewer' could not be started: a run with the id '{run.id}/2-1' has not ended",
        )
    ]
    assert [e.acted for e in finished.events if isinstance(e, ToolExecutionFailed)] == ["no"]


async def test_children_of_one_turn_share_what_is_left_and_it_counts_for_the_whole_chain(
    client: Client,
) -> None:
    writer: tuple[str, JsonValue] = ("writer", {"prompt": "Write."})
    look: tuple[str, JsonValue] = ("look", {})
    looks = calls(*[look] * 5)
    async with serving(
        client,
        Replies([calls(ASK, writer), says("Done.")]),
        [agent("reviewer"), agent("writer", limits={"max_tool_calls": 2})],
        models={"reviewer": Replies([looks, says("5")]), "writer": Replies([looks, says("2")])},
        of_agents={name: [tool("look", answer)] for name in ("reviewer", "writer")},
    ) as queue:
        limits = {"max_tool_calls": 9, "max_input_tokens": 1_001, "max_seconds": 3_600}
        run = await start(client, queue, limits=limits, chain={"max_events": 1})
        result = await run.result()
        given = [await limits_of(child_of(run, client, call)) for call in ("1-1", "1-2")]

    # Seven calls were left: four for one, three for the other, whose own limit is two.
    assert [(one.max_tool_calls, one.max_input_tokens) for one in given] == [(4, 496), (2, 495)]
    assert all(one.max_seconds is not None and 3_500 < one.max_seconds < 3_600 for one in given)
    assert (result.tool_calls, result.usage.requests) == (2 + 4 + 2, 2 + 2 + 2)


async def test_children_and_theirs_go_on_when_a_worker_is_back(client: Client) -> None:
    nested = agent("reviewer", model="reader", limits={"max_turns": 3})
    family = {"reviewer": [nested]}
    silent = {"reviewer": Replies([calls(ASK)]), "reader": Silent()}
    tools = [agent("reviewer")]
    async with serving(client, Replies([calls(ASK)]), tools, models=silent, of_agents=family) as queue:
        run = await start(client, queue)
        await until_event(run, "tool_execution_started")
        await until_event(child_of(run, client), "tool_execution_started")
    talking = {"reviewer": Replies([says("It is well.")]), "reader": Replies([says("Read.")])}
    again = Replies([says("Done.")])
    async with serving(client, again, tools, models=talking, of_agents=family, queue=queue):
        finished = await finish(run)
        child = await finish(child_of(run, client))

    assert finished.result.answer == "Done."
    assert [o.result for o in child.outcomes if isinstance(o, ToolSuccess)] == [
        {"status": "completed", "answer": "Read.", "reason": None, "turns": 1}
    ]


async def test_skipped_time_has_children_too(time_skipping: WorkflowEnvironment) -> None:
    finished = await run_with(time_skipping.client, [calls(ASK), says("Done.")], [says("Well.")])

    assert [isinstance(outcome, ToolSuccess) for outcome in finished.outcomes] == [True]


@pytest.mark.long
@pytest.mark.parametrize("whom", ["run", "call"])
async def test_what_is_cancelled_at_any_moment_leaves_no_child_behind(client: Client, whom: str) -> None:
    models = {"reviewer": Replies([calls(ASK)] * 100), "reader": Silent()}
    nested = {"reviewer": [agent("reviewer", model="reader")]}
    async with serving(
        client, Replies([calls(ASK)] * 24), [agent("reviewer")], models=models, of_agents=nested
    ) as queue:

        async def cancelled_after(delay_seconds: float) -> WorkflowHandle[Any, RunResult]:
            run = await start(client, queue)
            await until_event(run, "tool_execution_scheduled")
            # Not to wait for something: the moments are what is tried.
            await asyncio.sleep(delay_seconds)
            if whom == "call":
                await cancel_call(run, "1-1")
                await until_event(run, "tool_execution_failed")
            await run.cancel()
            with pytest.raises(WorkflowFailureError):
                await run.result()
            return run

        runs = await asyncio.gather(*(cancelled_after(n * 0.02) for n in range(24)))
        family = [child_of(run, client, call) for run in runs for call in ("1-1", "1-1/1-1")]
        statuses = [await status_of(child) for child in family]

    assert set(statuses) <= {None, WorkflowExecutionStatus.CANCELED}
    assert WorkflowExecutionStatus.CANCELED in statuses


async def status_of(run: WorkflowHandle[Any, Any]) -> WorkflowExecutionStatus | None:
    """Give the status of a run; None if it never began."""
    try:
        return (await run.describe()).status
    except RPCError:
        return None


async def run_with(
    client: Client,
    caller: Sequence[AssistantMessage],
    child: Sequence[AssistantMessage | Exception],
    *,
    run: Mapping[str, object] = MappingProxyType({}),
    settings: Mapping[str, JsonValue] = MappingProxyType({}),
) -> Finished:
    """Run an agent that calls another, whose model gives these replies and whose only tool is `look`."""
    async with serving(
        client,
        Replies(caller),
        [agent("reviewer", **settings)],
        models={"reviewer": Replies(child)},
        of_agents={"reviewer": [tool("look", answer)]},
    ) as queue:
        return await finish(await start(client, queue, **run))


async def limits_of(run: WorkflowHandle[Any, Any]) -> Limits:
    """Give the limits that a run was started with."""
    started = (await run.fetch_history()).events[0].workflow_execution_started_event_attributes
    return RunInput.model_validate_json(started.input.payloads[0].data).limits
