import json
from collections.abc import Mapping
from datetime import timedelta

import pytest
from pydantic import JsonValue
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment

from activities.model import ModelUnavailableError
from surefoot.conversation import Message, UserMessage
from surefoot.events import ToolExecutionFailed
from surefoot.run import RunResult
from surefoot.testing.replay import replay_problem
from tests.workflows.agents import (
    Finished,
    Replies,
    answer,
    calls,
    finish,
    run_agent,
    says,
    serving,
    start,
    tool,
)

pytestmark = pytest.mark.slow

LOOK = calls(("look", {}))
THREE_LOOKS = calls(("look", {}), ("look", {}), ("look", {}))
SO_FAR = says("What I have.")


async def crash(_: RawValue) -> JsonValue:
    raise ApplicationError("it broke", type="TOOL_CRASHED")


def codes(finished: Finished) -> list[str | None]:
    return [outcome.model_dump().get("error_code") for outcome in finished.outcomes]


def told(messages: tuple[Message, ...]) -> list[str]:
    """What the runtime said to the model, by purpose."""
    return [m.purpose for m in messages if isinstance(m, UserMessage) and m.purpose != "prompt"]


@pytest.mark.parametrize(
    ("limits", "turns", "reason"),
    [
        pytest.param({"max_input_tokens": 25}, 4, "limit of 25 input tokens", id="input"),
        pytest.param({"max_output_tokens": 4}, 3, "limit of 4 output tokens", id="output"),
        pytest.param({"max_tool_calls": 1}, 2, "limit of 1 tool call", id="tool calls"),
        pytest.param({"max_cost": 5}, 2, "limit of $5.00 (nobody knows what was spent)", id="unknown cost"),
    ],
)
async def test_a_run_that_has_spent_enough_gets_one_turn_to_answer(
    time_skipping: WorkflowEnvironment, limits: Mapping[str, JsonValue], turns: int, reason: str
) -> None:
    model = Replies([*[LOOK] * (turns - 1), SO_FAR])
    async with serving(time_skipping.client, model, [tool("look", answer)]) as queue:
        finished = await finish(await start(time_skipping.client, queue, limits=limits))

    assert [closing for _, closing in model.asked] == [*[False] * (turns - 1), True]
    assert finished.result == RunResult(
        status="limit_reached",
        answer="What I have.",
        reason=reason,
        turns=turns,
        tool_executions=turns - 1,
        failed_tool_executions=0,
        usage=finished.result.usage,
        tool_calls=turns - 1,
    )


async def test_of_more_calls_than_are_left_the_first_are_made_and_the_others_answered(
    time_skipping: WorkflowEnvironment,
) -> None:
    finished = await run_agent(
        time_skipping.client,
        [LOOK, THREE_LOOKS, SO_FAR],
        [tool("look", answer)],
        limits={"max_tool_calls": 3},
    )

    refused = [event for event in finished.events if isinstance(event, ToolExecutionFailed)]
    assert codes(finished) == [None, None, None, "LIMIT_REACHED"]
    assert [(event.tool_exec_id, event.acted, event.error.message) for event in refused] == [
        ("2-3", "no", "Tool 'look' was not called: the limit of 3 tool calls is reached")
    ]
    assert (finished.result.reason, told(finished.messages)) == ("limit of 3 tool calls", ["closing"])


async def test_no_call_begins_once_the_time_is_up(time_skipping: WorkflowEnvironment) -> None:
    down = ModelUnavailableError("overloaded", retry_after=timedelta(hours=2))

    finished = await run_agent(
        time_skipping.client,
        [LOOK, down, LOOK, SO_FAR],
        [tool("look", answer)],
        limits={"max_seconds": 3_600},
    )

    assert codes(finished) == [None, "LIMIT_REACHED"]
    assert (finished.result.status, finished.result.reason) == ("limit_reached", "time limit of 1h")


async def test_a_tool_that_fails_in_the_same_way_is_warned_of_and_then_ends_the_run(
    time_skipping: WorkflowEnvironment,
) -> None:
    tools = [tool("look", crash), tool("other", answer)]
    both = calls(("other", {}), ("look", {}))

    finished = await run_agent(
        time_skipping.client, [LOOK, both, LOOK, both, SO_FAR], tools, limits={"failures_in_a_row": 2}
    )

    assert told(finished.messages) == ["warning", "closing"]
    assert (finished.result.status, finished.result.answer, finished.result.reason) == (
        "limit_reached",
        "What I have.",
        "limit of 4 failures in a row of tool 'look' with TOOL_CRASHED",
    )


@pytest.mark.parametrize(
    ("limits", "reason", "said"),
    [
        pytest.param(
            {"failures_in_a_row": 2},
            "limit of 4 failures in a row of tool 'look' with TOOL_CRASHED",
            ["warning", "closing"],
            id="failures in a row",
        ),
        pytest.param({"max_tool_calls": 4}, "limit of 4 tool calls", ["closing"], id="tool calls"),
        pytest.param({"max_input_tokens": 40}, "limit of 40 input tokens", ["closing"], id="tokens"),
    ],
)
async def test_limits_hold_over_a_chain_of_runs(
    time_skipping: WorkflowEnvironment, limits: Mapping[str, JsonValue], reason: str, said: list[str]
) -> None:
    model = Replies([*[LOOK] * 4, SO_FAR])
    async with serving(time_skipping.client, model, [tool("look", crash)]) as queue:
        run = await start(time_skipping.client, queue, limits=limits, chain={"max_events": 1})
        result = await run.result()
        last = await run.describe()

    assert last.run_id != run.first_execution_run_id
    assert (result.status, result.reason, result.turns) == ("limit_reached", reason, 5)
    assert told(tuple(model.asked[-1][0])) == said


async def test_the_time_of_a_chain_counts_from_its_first_run(time_skipping: WorkflowEnvironment) -> None:
    down = ModelUnavailableError("overloaded", retry_after=timedelta(minutes=40))
    model = Replies([down, LOOK, down, LOOK, SO_FAR])

    async with serving(time_skipping.client, model, [tool("look", answer)]) as queue:
        run = await start(time_skipping.client, queue, limits={"max_seconds": 3_600}, chain={"max_events": 1})
        result = await run.result()

    assert (result.reason, result.turns) == ("time limit of 1h", 3)


async def test_a_run_that_went_on_failing_before_there_was_a_limit_replays_as_it_was(client: Client) -> None:
    model = Replies([*[LOOK] * 12, says("Done.")])
    async with serving(client, model, [tool("look", crash)]) as queue:
        run = await start(client, queue, limits={"failures_in_a_row": 1_000_000})
        await run.result()
        history = await run.fetch_history()

    given = history.events[0].workflow_execution_started_event_attributes.input.payloads[0]
    fields = json.loads(given.data)
    del fields["limits"]["failures_in_a_row"]
    given.data = json.dumps(fields).encode()

    assert await replay_problem(history) is None
