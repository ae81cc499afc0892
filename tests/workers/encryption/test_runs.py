"""Runs on the real server whose workers have keys, other keys, or none."""

import asyncio
from collections.abc import Sequence

import pytest
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.client import Client, WorkflowExecutionStatus

from activities.interface import LlmTurnResult
from surefoot.conversation import Message, ToolMessage
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.run import RunResult
from surefoot.sizes import MAX_ANSWER_BYTES, MAX_PARAMS_BYTES, MAX_PROMPT_BYTES, MAX_TURN_INPUTS_BYTES
from surefoot.testing.replay import DoesNotReplayError, replays
from tests.workers.encryption.history_keys import keys_in
from tests.workers.encryption.rings import BOTH, NEW, NONE, OLD, OTHER, having
from tests.workers.real_workers import new_queue
from tests.workflows.agents import (
    Replies,
    answer,
    calls,
    finish,
    says,
    serving,
    start,
    tool,
    until_event,
)
from tests.workflows.bare_executor import BareExecutor
from workers.chain import what_was_asked
from workers.encryption.keys import Keyring, KeyUnknownError
from workers.following import told_so_far
from workers.rebuilt_ledger import rebuild_ledger
from workers.wedged_runs import WedgedRun, find_wedged_runs
from workflows.payloads import UnreadableError

PATIENCE_SECONDS = 60
"""The server waits for about 10 s before it tries a workflow task for the third time."""

MADE_UP = Payload(
    metadata={
        "encoding": b"binary/encrypted",
        "encryption-cipher": b"AES-256-GCM",
        "encryption-key-id": b"old",
    },
    data=b"by somebody without the key",
)
NOT_OPENED = "what names the encryption key 'old' is not opened by the key of that id here"


class OneReply(Replies):
    """A model that replies once, and then never again."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        if self.asked:
            await asyncio.Event().wait()
        return await super().reply(messages, closing=closing)


@pytest.mark.slow
async def test_a_run_goes_on_while_its_keys_change(client: Client) -> None:
    queue, look = new_queue(), [tool("look", answer)]
    rotated = having(client, BOTH)
    run = await start(client, queue, prompt="Before there was a key.")
    async with serving(having(client, OLD), OneReply([calls(("look", {}))]), look, queue=queue):
        await until_event(having(client, OLD).get_workflow_handle(run.id), "tool_execution_completed")
    run = rotated.get_workflow_handle(run.id, result_type=RunResult)
    async with serving(rotated, Replies([calls(("look", {})), says("Done.")]), look, queue=queue):
        finished = await finish(run)
    rebuilt = await rebuild_ledger(await run.fetch_history(), rotated.data_converter)
    assert (finished.result.answer, finished.outcomes) == (
        "Done.",
        [ToolSuccess(tool="look", result={"ok": True})] * 2,
    )
    assert rebuilt is not None
    assert rebuilt.events == finished.events
    with pytest.raises(
        KeyUnknownError, match="encrypted with the key 'old', and this process has only 'new'"
    ):
        [_ async for _ in told_so_far(having(client, NEW), run.id)]
    history = await run.fetch_history()
    await replays(history, converter=rotated.data_converter)
    with pytest.raises(
        DoesNotReplayError, match="encrypted with the key 'old', and this process has no keys"
    ):
        await replays(history)
    keys = await keys_in(run)
    assert (keys[0], set(keys), keys[-1]) == ("", {"", "old", "new"}, "new")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        pytest.param(NEW, "encrypted with the key 'old', and this process has only 'new': add it", id="new"),
        pytest.param(NONE, "encrypted with the key 'old', and this process has no keys: add it", id="none"),
        pytest.param(OTHER, NOT_OPENED, id="another by the same id"),
    ],
)
async def test_a_run_waits_for_a_worker_that_has_its_key(client: Client, keys: Keyring, reason: str) -> None:
    queue, lacking = new_queue(), having(client, keys)
    run = await start(having(client, OLD), queue)
    async with serving(lacking, Replies([says("Never.")]), queue=queue):
        wedged = await _until_wedged(lacking, run.id)
        with pytest.raises(UnreadableError) as shown:
            await what_was_asked(lacking, await run.describe())
    seen_with_key = await _until_wedged(having(client, OLD), run.id)
    status = (await run.describe()).status
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        serving(having(client, OLD), Replies([says("Done.")]), queue=queue),
    ):
        result = await run.result()
    assert (status, result.answer) == (WorkflowExecutionStatus.RUNNING, "Done.")
    assert [reason in told for told in (wedged.reason, seen_with_key.reason, str(shown.value))] == [True] * 3


async def _until_wedged(client: Client, workflow_id: str) -> WedgedRun:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            for run in (await find_wedged_runs(client)).wedged:
                if run.workflow_id == workflow_id:
                    return run
            await asyncio.sleep(0.05)


async def test_an_answer_that_no_key_opens_is_undecodable_and_goes_no_further(client: Client) -> None:
    queue, executors = new_queue(), new_queue()
    model = Replies([calls(("away", {})), calls(("away", {})), says("Done.")])
    away = tool("away", answer, executorQueue=executors)
    executor = BareExecutor(client, executors)
    async with serving(having(client, OLD), model, [away], queue=queue):
        run = await start(having(client, OLD), queue)
        await executor.complete(await executor.take(), Payloads(payloads=[MADE_UP]))
        await executor.fail(
            await executor.take(),
            Failure(
                message="no disk",
                application_failure_info=ApplicationFailureInfo(
                    type="TOOL_CRASHED", details=Payloads(payloads=[MADE_UP])
                ),
                encoded_attributes=MADE_UP,
            ),
        )
        finished = await finish(run)
    undecodable, crashed = finished.outcomes
    assert isinstance(undecodable, ToolFailure)
    assert isinstance(crashed, ToolFailure)
    assert (undecodable.error_code, NOT_OPENED in undecodable.error) == ("INVALID_OUTPUT", True)
    assert (crashed.error_code, crashed.error, finished.result.answer) == ("TOOL_CRASHED", "no disk", "Done.")


async def test_an_executor_without_the_key_did_not_start(client: Client) -> None:
    queue, executors = new_queue(), new_queue()
    away = tool("away", answer, executorQueue=executors)
    async with (
        serving(having(client, OLD), Replies([calls(("away", {})), says("Done.")]), [away], queue=queue),
        serving(having(client, NONE), Replies([]), [away], queue=executors),
    ):
        finished = await finish(await start(having(client, OLD), queue))
    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert outcome.error.startswith(
        "Tool 'away' could not be started: this is encrypted with the key 'old', and this process has no keys"
    )
    assert [event.acted for event in finished.events if event.type == "tool_execution_failed"] == ["no"]


async def test_a_plain_answer_is_taken_of_an_executor_that_has_no_key(client: Client) -> None:
    queue, executors = new_queue(), new_queue()
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'{"ok": true}')
    executor = BareExecutor(client, executors)
    away = tool("away", answer, executorQueue=executors)
    model = Replies([calls(("away", {})), says("Done.")])
    async with serving(having(client, OLD), model, [away], queue=queue):
        run = await start(having(client, OLD), queue)
        await executor.complete(await executor.take(), Payloads(payloads=[plain]))
        finished = await finish(run)
    assert finished.outcomes == [ToolSuccess(tool="away", result={"ok": True})]


@pytest.mark.slow
async def test_all_that_is_as_large_as_it_may_be_passes_encrypted(client: Client) -> None:
    large = "x" * (MAX_PARAMS_BYTES - len('{"text": ""}'))
    rest = "x" * (MAX_TURN_INPUTS_BYTES - MAX_PARAMS_BYTES - 1024)
    told = "x" * (MAX_ANSWER_BYTES - len('""'))

    async def tell(_: object) -> str:
        return told

    turn = calls(("x", {"text": large}), ("x", {"text": rest}))
    model = Replies([turn, says("Done.")])
    async with serving(having(client, OLD), model, [tool("x", tell)]) as queue:
        run = await start(having(client, OLD), queue, prompt="x" * (MAX_PROMPT_BYTES - len('""')))
        result = await run.result()
    shown = [message.outcome for message in model.asked[-1][0] if isinstance(message, ToolMessage)]
    assert (result.answer, [type(outcome) for outcome in shown]) == ("Done.", [ToolSuccess] * 2)
