"""Runs with an authority: decisions on calls are taken if they are signed, and forged ones never."""

import asyncio
import random
import re
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowHandle, WorkflowUpdateFailedError

from surefoot.authority import key_id
from surefoot.decision_token import Asking
from surefoot.events import (
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
)
from surefoot.run import APPROVE_UPDATE, DENY_UPDATE, Approve, Deny, RunResult
from surefoot.testing.replay import replay_problem
from tests.workflows.agents import Replies, calls, finish, says, serving, start, tool, until_event
from tests.workflows.approving import Made, questions
from tests.workflows.operators import update
from tests.workflows.signing import AUTHORITY, EVE, signed
from tests.workflows.test_approvals import asked_in
from tests.workflows.test_sub_agents import ASK, agent, child_of

pytestmark = pytest.mark.slow

FORGED_OF_EACH = 20
WAITING = 6
SAID = {
    "wrong run": r"the token is about another run",
    "wrong call": r"the token is about tool call '1-\d'",
    "changed arguments": r"the token (is about other edited params|is for the scope '\w+', and not for '\w+'"
    r"|names somebody else who decides)",
    "expired": r"the token has expired at [-0-9]+ [:0-9]+ UTC",
    "replayed": r"(tool call '1-1' has already been decided: it was approved by Ada"
    r"|the token is about tool call '1-1')",
}


async def asking(run: WorkflowHandle[Any, Any]) -> Asking:
    return Asking(run.id, (await run.describe()).run_id or "")


def about(question: ApprovalRequested, **more: object) -> Approve:
    named = {"tool_exec_id": question.tool_exec_id, "params_sha256": question.params_sha256}
    return Approve.model_validate({**named, **more})


async def decide(run: WorkflowHandle[Any, Any], request: Approve | Deny) -> None:
    await update(run, APPROVE_UPDATE if isinstance(request, Approve) else DENY_UPDATE, request)


async def refusal(run: WorkflowHandle[Any, Any], request: Approve | Deny) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as refused:
        await decide(run, request)
    return str(refused.value.cause)


async def length(run: WorkflowHandle[Any, Any]) -> int:
    return len((await run.fetch_history()).events)


class Forger:
    """Makes decisions of five kinds that nobody signed, from true ones about other things."""

    def __init__(self, ours: Asking, other: Asking, used: Approve, waiting: list[ApprovalRequested]) -> None:
        self._random = random.Random(7)
        self._ours, self._other, self._used, self._waiting = ours, other, used, waiting
        self.kinds: dict[str, Callable[[], Approve]] = {
            "wrong run": self._wrong_run,
            "wrong call": self._wrong_call,
            "changed arguments": self._changed,
            "expired": self._expired,
            "replayed": self._replayed,
        }

    def _any(self) -> Approve:
        scope = self._random.choice(["once", "run"])
        params: JsonValue = self._random.choice([None, {"n": self._random.randrange(1_000)}])
        by = self._random.choice([None, "Ada"])
        return about(self._random.choice(self._waiting), scope=scope, params=params, by=by)

    def _signed(self, request: Approve, asking: Asking, seconds: float = 600) -> str:
        return signed(request, asking, validity=timedelta(seconds=seconds)).token or ""

    def _wrong_run(self) -> Approve:
        request = self._any()
        return with_token(request, self._signed(request, self._other))

    def _wrong_call(self) -> Approve:
        meant, other = self._random.sample(self._waiting, 2)
        return with_token(about(other), self._signed(about(meant), self._ours))

    def _changed(self) -> Approve:
        meant = self._any()
        changed = self._random.choice([{"params": {"n": -1}}, {"scope": "run"}, {"by": "Eve"}])
        if meant.scope == "run" and "scope" in changed:
            changed = {"scope": "once"}
        return with_token(meant.model_copy(update=changed), self._signed(meant, self._ours))

    def _expired(self) -> Approve:
        request = self._any()
        token = self._signed(request, self._ours, -self._random.uniform(1.5, 10_000))
        return with_token(request, token)

    def _replayed(self) -> Approve:
        again = self._random.choice([self._used, self._any()])
        return with_token(again, self._used.token or "")


def with_token(request: Approve, token: str) -> Approve:
    return request.model_copy(update={"token": token})


@pytest.mark.long
async def test_a_hundred_forged_approvals_leave_the_run_as_it_is(client: Client) -> None:
    made = Made()
    asked: list[tuple[str, JsonValue]] = [("rm", {"n": n}) for n in range(WAITING + 1)]
    tools = [tool("rm", made.act, approval="always")]
    async with (
        asyncio.timeout(120),
        serving(client, Replies([calls(*asked), says("Done.")]), tools) as queue,
        serving(client, Replies([calls(*asked), says("Done.")]), tools) as other_queue,
    ):
        run = await start(client, queue, authority=AUTHORITY)
        other = await start(client, other_queue, authority=AUTHORITY)
        first, *waiting = await questions(run, WAITING + 1)
        await questions(other, WAITING + 1)
        used = about(first, by="Ada")
        used = with_token(used, signed(used, await asking(run)).token or "")
        await decide(run, used)
        await until_event(run, "tool_execution_completed")
        forger = Forger(await asking(run), await asking(other), used, waiting)
        before = await length(run)
        refused = {
            kind: [await refusal(run, forge()) for _ in range(FORGED_OF_EACH)]
            for kind, forge in forger.kinds.items()
        }
        after, once = await length(run), list(made.params)
        whole = about(waiting[0], scope="run")
        await decide(run, signed(whole, await asking(run)))
        finished = await finish(run)
        await other.cancel()

    for kind, said in refused.items():
        assert len(said) == FORGED_OF_EACH
        assert [one for one in said if not re.fullmatch(f"REFUSED: {SAID[kind]}", one)] == []
    assert (after - before, once) == (0, [{"n": 0}])
    assert len(finished.outcomes) == len(made.params) == WAITING + 1


async def test_who_signed_a_decision_is_in_the_ledger(client: Client) -> None:
    made = Made()
    model = Replies([calls(("rm", {"n": 1}), ("rm", {"n": 2})), says("Done.")])
    async with (
        asyncio.timeout(30),
        serving(client, model, [tool("rm", made.act, approval="always")]) as queue,
    ):
        run = await start(client, queue, authority=AUTHORITY)
        first, second = await questions(run, 2)
        await decide(run, signed(about(first, by="Ada", params={"n": 3}), await asking(run)))
        reason = "Not on my watch."
        denial = Deny(tool_exec_id="1-2", params_sha256=second.params_sha256, reason=reason)
        await decide(run, signed(denial, await asking(run)))
        finished = await finish(run)

    (given,) = [event for event in finished.events if isinstance(event, ApprovalGiven)]
    (denied,) = [event for event in finished.events if isinstance(event, ApprovalDenied)]
    assert (first.signed, given.by, given.signed_by, denied.by, denied.signed_by) == (
        True,
        "Ada",
        "ada",
        None,
        "ada",
    )
    assert made.params == [{"n": 3}]


async def test_who_has_no_key_of_the_authority_decides_nothing(client: Client) -> None:
    model = Replies([calls(("rm", {})), says("Done.")])
    tools = [tool("rm", Made().act, approval="always")]
    async with asyncio.timeout(30), serving(client, model, tools) as queue:
        run = await start(client, queue, authority=AUTHORITY)
        (question,) = await questions(run)
        token = signed(about(question), await asking(run)).token or ""
        denial = Deny(tool_exec_id="1-1", params_sha256=question.params_sha256, reason="No.")
        before = await length(run)
        said = [
            await refusal(run, about(question)),
            await refusal(run, denial),
            await refusal(run, with_token(about(question), "a.b.c")),
            await refusal(run, signed(about(question), await asking(run), key=EVE)),
            await refusal(run, with_token(about(question), token[:-8] + "AAAAAAAA")),
            await refusal(run, denial.model_copy(update={"token": token})),
        ]
        after = await length(run)
        await decide(run, with_token(about(question), token))
        await finish(run)

    unsigned = (
        "REFUSED: decisions of this run must be signed with a key of its authority, and this one has no token"
    )
    assert said == [
        unsigned,
        unsigned,
        "REFUSED: the token cannot be read: it is no text that begins with 'surefoot-decision-1.'",
        f"REFUSED: the token is signed with a key that is none of the run's authority: {key_id(EVE.public)}",
        "REFUSED: the signature of the token is not one of the key 'ada' over what the token says",
        "REFUSED: the token is to approve the call, and not to deny it",
    ]
    assert after == before


async def test_an_authority_holds_after_a_run_continued_as_new_and_in_agents(client: Client) -> None:
    inner = Replies([calls(("rm", {})), says("Removed.")])
    outer = Replies([calls(("ls", {})), calls(ASK), calls(("rm", {})), says("Done.")])
    tools = [agent("reviewer"), tool("rm", Made().act, approval="always"), tool("ls", Made().act)]
    async with (
        asyncio.timeout(60),
        serving(
            client, outer, tools, models={"reviewer": inner}, of_agents={"reviewer": tools[1:2]}
        ) as queue,
    ):
        run = await start(client, queue, authority=AUTHORITY, chain={"max_events": 1})
        run = client.get_workflow_handle(run.id, result_type=RunResult)
        child = child_of(run, client, "2-1")
        (question,) = await asked_in(child)
        said = [await refusal(child, about(question))]
        await decide(child, signed(about(question), await asking(child)))
        (question,) = await questions(run)
        said.append(await refusal(run, about(question)))
        await decide(run, signed(about(question), await asking(run)))
        result = await run.result()

    assert [("has no token" in one) for one in said] == [True, True]
    assert result.answer == "Done."


async def test_an_approval_does_not_hold_again_once_its_run_was_reset(client: Client) -> None:
    made = Made()
    model = Replies([calls(("rm", {})), says("Done.")])
    tools = [tool("rm", made.act, approval="always")]
    async with asyncio.timeout(60), serving(client, model, tools) as queue:
        run = await start(client, queue, authority=AUTHORITY)
        (question,) = await questions(run)
        approval = signed(about(question), await asking(run))
        await decide(run, approval)
        await finish(run)
        await reset_before(client, run, EventType.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED)
        run = client.get_workflow_handle(run.id, result_type=RunResult)
        await questions(run)
        said = await refusal(run, approval)
        await decide(run, signed(about(question), await asking(run)))
        model.asked.pop()
        result = await run.result()
        problem = await replay_problem(await run.fetch_history())

    assert problem is None
    assert said == "REFUSED: the token is about another run, or one that was reset"
    assert (result.answer, made.params) == ("Done.", [{}, {}])


async def reset_before(client: Client, run: WorkflowHandle[Any, Any], kind: "EventType.ValueType") -> None:
    """Have the run begin again at the last task of its workflow before an event, as an operator can."""
    events = (await run.fetch_history()).events
    (at,) = [event.event_id for event in events if event.event_type == kind]
    done = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    (*_, last) = [e.event_id for e in events if e.event_type == done and e.event_id < at - 1]
    await client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=run.id, run_id=run.first_execution_run_id or ""),
            workflow_task_finish_event_id=last,
            request_id=secrets.token_hex(8),
        )
    )
