"""Calls that wait for approval, and what becomes of them."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from pydantic import JsonValue
from temporalio.client import WorkflowUpdateFailedError

from surefoot.decision_token import Asking
from surefoot.run import APPROVE_UPDATE, DENY_UPDATE, Approve, Deny
from tests.replay.stage import Stage, ended
from tests.workflows.agents import Replies, answer, calls, says, serving, tool
from tests.workflows.approving import approve, deny, questions
from tests.workflows.operators import cancel_call, update
from tests.workflows.signing import AUTHORITY, signed

_ASKING: list[tuple[str, JsonValue]] = [("x", {"n": n}) for n in range(4)]
_ASKS = tool("x", answer, approval="always", annotations={"destructiveHint": True})


async def calls_are_approved_edited_denied_and_cancelled(stage: Stage) -> None:
    """Four calls of a turn ask: one is approved, one with other arguments, one denied, one cancelled."""
    model = Replies([calls(*_ASKING, ("y", {})), says("Done.")])
    async with serving(stage.client, model, [_ASKS, tool("y", answer)], queue=stage.name) as queue:
        run = await stage.start(queue, approval_seconds=3_600)
        first, second, third, _ = await questions(run, 4)
        await cancel_call(run, "1-4")
        await deny(run, third)
        await approve(run, second, params={"n": "two"})
        await approve(run, first, by="Ada")
        await ended(run)


async def a_tool_is_approved_for_the_run(stage: Stage) -> None:
    """The second call of it is in another run of the chain."""
    model = Replies([calls(("x", {})), calls(("x", {})), says("Done.")])
    async with serving(stage.client, model, [_ASKS], queue=stage.name) as queue:
        run = await stage.start(queue, chain={"max_events": 1})
        (question,) = await questions(run)
        await approve(run, question, scope="run")
        await ended(stage.client.get_workflow_handle(run.id))


async def nobody_approves(stage: Stage) -> None:
    """The call is denied when its time is up."""
    slow = tool("x", answer, approval="always", approvalTimeoutSeconds=0.2)
    await stage.play([calls(("x", {})), says("Done.")], [slow])


async def nobody_is_asked(stage: Stage) -> None:
    """The run denies what needs approval."""
    rules = {"*": "destructive"}
    await stage.play([calls(("x", {})), says("Done.")], [_ASKS], on_approval="deny", approve=rules)


async def a_call_needs_approval_where_the_run_is_to_fail(stage: Stage) -> None:
    """No call of the turn is made."""
    await stage.play([calls(("y", {}), ("x", {}))], [_ASKS, tool("y", answer)], on_approval="fail")


async def decisions_are_signed(stage: Stage) -> None:
    """The run has an authority, and refuses what is not signed: one call is approved, one denied."""
    model = Replies([calls(("x", {"n": 1}), ("x", {"n": 2})), says("Done.")])
    async with serving(stage.client, model, [_ASKS], queue=stage.name) as queue:
        run = await stage.start(queue, authority=AUTHORITY)
        first, second = await questions(run, 2)
        asking = Asking(run.id, (await run.describe()).run_id or "")
        with suppress(WorkflowUpdateFailedError):
            await approve(run, first)
        approval = Approve(tool_exec_id="1-1", params_sha256=first.params_sha256, by="Ada")
        denial = Deny(tool_exec_id="1-2", params_sha256=second.params_sha256, reason="Not two.")
        await update(run, APPROVE_UPDATE, signed(approval, asking))
        await update(run, DENY_UPDATE, signed(denial, asking))
        await ended(run)


SCENARIOS: Sequence[Callable[[Stage], Awaitable[None]]] = (
    calls_are_approved_edited_denied_and_cancelled,
    a_tool_is_approved_for_the_run,
    decisions_are_signed,
    nobody_approves,
    nobody_is_asked,
    a_call_needs_approval_where_the_run_is_to_fail,
)
