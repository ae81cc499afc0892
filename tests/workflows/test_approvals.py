"""Calls that wait for approval: made once somebody approves exactly them, and never before."""

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError
from temporalio.service import RPCError

from surefoot.events import (
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    Event,
    ModelReplied,
    ToolExecutionCompleted,
)
from surefoot.outcome import ToolFailure
from surefoot.reducer import EVERY_EVENT, Reducer
from surefoot.session import SessionEvent
from surefoot.sizes import MAX_CALLS_IN_FLIGHT
from tests.workflows.agents import Replies, calls, events_of, finish, says, serving, start, tool, until_event
from tests.workflows.approving import Made, approve, deny, questions
from tests.workflows.operators import cancel_call
from tests.workflows.test_sub_agents import ASK, agent, child_of
from workflows.slices import Slices

pytestmark = pytest.mark.slow


def about_approval(events: Sequence[Event]) -> list[Event]:
    return [e for e in events if isinstance(e, ApprovalRequested | ApprovalGiven | ApprovalDenied)]


async def test_a_call_waits_for_approval_and_others_of_its_turn_do_not(client: Client) -> None:
    asks, free = Made(), Made()
    model = Replies([calls(("rm", {"path": "x"}), ("ls", {})), says("Done.")])
    tools = [tool("rm", asks.act, approval="always"), tool("ls", free.act)]
    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        run = await start(client, queue)
        (question,) = await questions(run)
        assert (question.tool_exec_id, question.params, asks.params) == ("1-1", {"path": "x"}, [])
        await until_event(run, "tool_execution_completed")
        await approve(run, question, by="Ada")
        finished = await finish(run)

    assert (asks.params, finished.result.answer) == ([{"path": "x"}], "Done.")
    (given,) = [event for event in finished.events if isinstance(event, ApprovalGiven)]
    assert (given.by, given.scope, given.params, given.params_sha256) == (
        "Ada",
        "once",
        None,
        question.params_sha256,
    )


async def test_a_denied_call_is_not_made_and_the_model_is_told_why(client: Client) -> None:
    made = Made()
    model = Replies([calls(("rm", {})), says("Done.")])
    async with (
        asyncio.timeout(20),
        serving(client, model, [tool("rm", made.act, approval="always")]) as queue,
    ):
        run = await start(client, queue)
        (question,) = await questions(run)
        await deny(run, question, by="Ada")
        finished = await finish(run)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error) == (
        "TOOL_DENIED",
        "Tool 'rm' was not called, it was not approved: Not on my watch.",
    )
    assert (made.params, finished.result.tool_calls) == ([], 1)
    (denied,) = [event for event in finished.events if isinstance(event, ApprovalDenied)]
    assert (denied.by, denied.reason) == ("Ada", "Not on my watch.")


async def test_edited_params_are_what_the_tool_gets_and_the_model_is_told(client: Client) -> None:
    made = Made()
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    model = Replies([calls(("ls", {}), ("rm", {"path": "/"})), says("Done.")])
    tools = [tool("ls", Made().act), tool("rm", made.act, approval="always", inputSchema=schema)]
    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        run = await start(client, queue)
        (question,) = await questions(run)
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await approve(run, question, params={"path": 1})
        await approve(run, question, params={"path": "/tmp/x"})
        await finish(run)

    assert str(refused.value.cause).startswith(
        "REFUSED: the edited params are refused: Tool 'rm' was not called"
    )
    assert made.params == [{"path": "/tmp/x"}]
    told = model.asked[1][0][-1]
    assert told.role == "user"
    assert (told.purpose, told.text) == (
        "approval",
        (
            "An operator changed the arguments of call 2 of your last reply, of the tool 'rm': "
            'it was made with {"path": "/tmp/x"}, and its outcome is of that.'
        ),
    )


async def test_a_decision_that_is_not_about_a_waiting_call_is_refused(client: Client) -> None:
    model = Replies([calls(("rm", {"n": 1}), ("rm", {"n": 2})), calls(("ls", {})), says("Done.")])
    tools = [tool("rm", Made().act, approval="always"), tool("ls", Made().act)]

    async def refusal(run: WorkflowHandle[Any, Any], question: ApprovalRequested, **more: object) -> str:
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await approve(run, question, **more)
        return str(refused.value.cause)

    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        run = await start(client, queue)
        first, second = await questions(run, 2)
        said = [
            await refusal(run, first, tool_exec_id="1-9"),
            await refusal(run, first, params_sha256=second.params_sha256),
            await refusal(run, first, params="rm"),
        ]
        with pytest.raises(WorkflowUpdateFailedError, match="failed") as no_reason:
            await deny(run, first, reason=" ")
        await approve(run, first, by="Ada")
        said += [await refusal(run, first), str(no_reason.value.cause)]
        await deny(run, second)
        await finish(run)
        with pytest.raises(Exception, match="completed"):
            await approve(run, first)

    assert said == [
        "REFUSED: no tool call '1-9' waits for approval; these do: 1-1, 1-2",
        "REFUSED: the hash is not that of the params of tool call '1-1': look at them again",
        (
            "REFUSED: the edited params are refused: Tool 'rm' was not called, its params are invalid: "
            "expected a JSON object, and got text that is not one (Expecting value at character 0)"
        ),
        "REFUSED: tool call '1-1' has already been decided: it was approved by Ada",
        "REFUSED: a denial needs a reason, which the model is told",
    ]


async def test_what_is_approved_for_the_run_is_not_asked_again(client: Client) -> None:
    made = Made()
    model = Replies([calls(("rm", {"n": 1}), ("rm", {"n": 2})), calls(("rm", {"n": 3})), says("Done.")])
    chain = {"max_events": 1}
    async with (
        asyncio.timeout(20),
        serving(client, model, [tool("rm", made.act, approval="always")]) as queue,
    ):
        run = await start(client, queue, chain=chain)
        first, _ = await questions(run, 2)
        await approve(run, first, scope="run")
        result = await client.get_workflow_handle(run.id).result()

    assert result["answer"] == "Done."
    assert sorted(str(params) for params in made.params) == ["{'n': 1}", "{'n': 2}", "{'n': 3}"]


@pytest.mark.parametrize(
    "rule", ["first-use", "destructive", "outside-workdir", {"when": {"required": ["n"]}}]
)
async def test_a_rule_asks_for_the_calls_that_it_is_about(client: Client, rule: JsonValue) -> None:
    made = Made()
    hints = {"destructiveHint": True}
    model = Replies([calls(("rm", {"n": "/etc"})), calls(("rm", {"m": "."})), says("Done.")])
    tools = [tool("rm", made.act, approval=rule, annotations=hints)]
    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        run = await start(client, queue, approval_seconds=60)
        (question,) = await questions(run)
        await approve(run, question)
        if rule == "destructive":
            _, question = await questions(run, 2)
            await approve(run, question)
        finished = await finish(run)

    assert len(made.params) == len(finished.outcomes) == 2
    assert question.deadline is not None


async def test_nobody_is_waited_for_in_a_run_that_denies(client: Client) -> None:
    model = Replies([calls(("rm", {})), says("Done.")])
    tools = [tool("rm", Made().act)]
    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        run = await start(client, queue, on_approval="deny", approve={"*": "always"})
        finished = await finish(run)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert outcome.error_code == "TOOL_DENIED"
    assert [event.type for event in about_approval(finished.events)] == [
        "approval_requested",
        "approval_denied",
    ]


async def test_a_run_that_is_to_fail_makes_no_call_of_the_turn(client: Client) -> None:
    made = Made()
    model = Replies([calls(("ls", {}), ("rm", {})), says("Done.")])
    tools = [tool("rm", made.act, approval="always"), tool("ls", made.act)]
    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        run = await start(client, queue, on_approval="fail")
        with pytest.raises(Exception, match="failed"):
            await run.result()
        (*_, finished) = await events_of(run)

    assert (finished.type, made.params) == ("run_finished", [])
    assert finished.type == "run_finished"
    assert finished.error == (
        "tool call 1-2 of 'rm' needs approval (every call of the tool does), "
        "and the run was started to fail then"
    )


async def test_a_call_that_waits_can_be_cancelled_and_so_can_its_run(client: Client) -> None:
    made = Made()
    model = Replies([calls(("rm", {})), calls(("rm", {})), says("Done.")])
    async with (
        asyncio.timeout(20),
        serving(client, model, [tool("rm", made.act, approval="always")]) as queue,
    ):
        run = await start(client, queue)
        (first,) = await questions(run)
        await cancel_call(run, "1-1")
        await questions(run, 2)
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await approve(run, first)
        await run.cancel()
        with pytest.raises(Exception, match="failed"):
            await run.result()
        events = await events_of(run)

    assert str(refused.value.cause) == "REFUSED: no tool call '1-1' waits for approval; these do: 2-1"
    assert made.params == []
    (failed,) = [event for event in events if event.type == "tool_execution_failed"]
    assert (failed.error.code, failed.acted) == ("TOOL_CANCELLED", "no")


async def test_a_call_that_nobody_decides_about_is_denied(client: Client) -> None:
    model = Replies([calls(("rm", {})), says("Done.")])
    tools = [tool("rm", Made().act, approval="always", approvalTimeoutSeconds=0.2)]
    async with asyncio.timeout(20), serving(client, model, tools) as queue:
        finished = await finish(await start(client, queue))

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert outcome.error.endswith("it was not approved: nobody decided within 0.2s")


async def test_a_question_outlives_the_worker_of_its_run(client: Client) -> None:
    made, model = Made(), Replies([calls(("rm", {})), says("Done.")])
    tools, queue = [tool("rm", made.act, approval="always")], f"queue-{secrets.token_hex(4)}"
    async with asyncio.timeout(30):
        async with serving(client, model, tools, queue=queue):
            run = await start(client, queue, approval_seconds=3_600)
            (question,) = await questions(run)
        async with serving(client, model, tools, queue=queue):
            await approve(run, question)
            finished = await finish(run)

    assert (finished.result.answer, made.params) == ("Done.", [{}])


async def test_a_called_agent_asks_in_its_own_run(client: Client) -> None:
    """Its own rules, and those of who started its caller, but none of its caller's agent."""
    made, free = Made(), Made()
    inner = Replies([calls(("rm", {}), ("ls", {}), ("mv", {})), says("Removed.")])
    outer = Replies([calls(ASK), says("Done.")])
    reviewer = agent("reviewer", approval={"rm": "always", "ls": "always"})
    its_tools = [tool("rm", made.act), tool("ls", free.act), tool("mv", free.act)]
    async with (
        asyncio.timeout(30),
        serving(
            client, outer, [reviewer], models={"reviewer": inner}, of_agents={"reviewer": its_tools}
        ) as queue,
    ):
        run = await start(
            client, queue, approval={"mv": "always"}, approve={"ls": "never"}, approval_seconds=60
        )
        child = child_of(run, client)
        (question,) = await asked_in(child)
        await approve(child, question)
        finished = await finish(run)
        (asked,) = await questions(child)

    assert finished.result.answer == "Done."
    assert (asked.tool, len(made.params), len(free.params)) == ("rm", 1, 2)
    assert asked.deadline is not None
    assert about_approval(finished.events) == []


async def asked_in(run: WorkflowHandle[Any, Any]) -> Sequence[ApprovalRequested]:
    """Wait for the questions of a run that may not have begun."""
    while True:
        try:
            return await questions(run)
        except RPCError:
            await asyncio.sleep(0.05)


def seen_params(seen: list[JsonValue], event: SessionEvent) -> list[JsonValue]:
    return [*seen, event.params]


def test_reducers_are_told_what_a_call_was_made_with() -> None:
    slices = Slices([Reducer("seen", seen_params, [], EVERY_EVENT)])
    named = {"time": "2026-01-01T00:00:00Z", "tool_exec_id": "1-1", "call_id": "c1", "tool": "rm"}
    asked = [{"id": "c1", "tool": "rm", "params": {"n": 1}}]
    edited = {"params_sha256": "", "scope": "once", "params": {"n": 2}}
    outcome = {"tool": "rm", "tool_success": True, "result": None}
    slices.add(ModelReplied.model_validate({**named, "turn": 1, "text": "", "tool_calls": asked}))
    slices.add(ApprovalGiven.model_validate({**named, **edited}))
    slices.add(ToolExecutionCompleted.model_validate({**named, "outcome": outcome}))

    assert slices.told()["seen"].state == [{"n": 2}]


@pytest.mark.long
async def test_calls_that_wait_hold_no_place_of_others(client: Client) -> None:
    """Neither one of those that a run may have in flight, nor the turn of tools that never run together."""
    free = Made()
    asking: list[tuple[str, JsonValue]] = [("rm", {"n": n}) for n in range(MAX_CALLS_IN_FLIGHT + 1)]
    model = Replies([calls(*asking, ("ls", {})), says("Done.")])
    tools = [
        tool("rm", Made().act, approval="always", exclusive=True),
        tool("ls", free.act, exclusive=True),
    ]
    async with asyncio.timeout(30), serving(client, model, tools) as queue:
        run = await start(client, queue)
        first, *_ = await questions(run, len(asking))
        await until_event(run, "tool_execution_completed")
        assert free.params == [{}]
        await approve(run, first, scope="run")
        finished = await finish(run)

    assert len(finished.outcomes) == len(asking) + 1
