"""A run that is going on."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle

from surefoot.events import ApprovalRequested, Event
from surefoot.failures import seconds
from surefoot.ledger import reduce_events
from surefoot.run import Approve, Deny, RunResult, SendMessage
from surefoot.testing.finished_run import FinishedRun
from surefoot.testing.observed_model import ModelTurn
from surefoot.testing.plan import Plan
from surefoot.testing.replay import chain_of
from surefoot.testing.transcript import Transcript
from workers.deciding import approve_call, deny_call, questions_of
from workers.following import follow
from workers.sending import send_message
from workers.snapshot import Snapshot

PATIENCE = timedelta(seconds=60)
"""How long a run may take by the clock on the wall, whatever its own clock says."""

_PAUSE_SECONDS = 0.02


class RunTooSlowError(AssertionError):
    """The run did not end in time; says what had happened until then."""


class RunningRun:
    """A run that was started; time is skipped only while its end is awaited."""

    def __init__(
        self,
        client: Client,
        handle: WorkflowHandle[Any, RunResult],
        *,
        plan: Plan,
        turns: Sequence[ModelTurn],
        ended: Callable[[FinishedRun], None],
    ) -> None:
        self.handle = handle
        """To cancel the run, or to talk to it in any other way that Temporal has."""
        self._client = client
        self._plan = plan
        self._turns = turns
        self._ended = ended

    async def send(self, text: str, *, sender: str | None = None) -> None:
        """Tell the model something before its next turn, as `surefoot send` does.

        Raises:
            UpdateRefusedError: the run does not take it.
        """
        await send_message(self._client, self.handle.id, SendMessage(text=text, sender=sender))

    async def question(self, *, patience: timedelta = PATIENCE) -> ApprovalRequested:
        """Wait until a call waits for approval.

        Raises:
            TimeoutError: none did within `patience` of real time.
        """
        async with asyncio.timeout(patience.total_seconds()):
            while not (waiting := await questions_of(self._client, self.handle.id)):  # noqa: ASYNC110  a server's
                await asyncio.sleep(_PAUSE_SECONDS)
        return waiting[0]

    async def approve(
        self, question: ApprovalRequested, *, always: bool = False, params: JsonValue = None
    ) -> None:
        """Let the call be made, as `surefoot approve` does.

        Raises:
            UpdateRefusedError: the run does not take it.
        """
        request = Approve(
            tool_exec_id=question.tool_exec_id,
            params_sha256=question.params_sha256,
            scope="run" if always else "once",
            params=params,
        )
        await approve_call(self._client, self.handle.id, request)

    async def deny(self, question: ApprovalRequested, reason: str) -> None:
        """Have the call not be made, as `surefoot deny` does.

        Raises:
            UpdateRefusedError: the run does not take it.
        """
        request = Deny(
            tool_exec_id=question.tool_exec_id, params_sha256=question.params_sha256, reason=reason
        )
        await deny_call(self._client, self.handle.id, request)

    async def end(self, *, patience: timedelta = PATIENCE) -> FinishedRun:
        """Wait until the run has ended, however it ends.

        Raises:
            RunTooSlowError: it did not end within `patience` of real time.
        """
        try:
            async with asyncio.timeout(patience.total_seconds()):
                result = await self._result()
        except TimeoutError:
            so_far = Transcript(tuple(self._turns), ())
            raise RunTooSlowError(
                f"the run did not end within {seconds(patience)} of real time\n{so_far}"
            ) from None
        events = [
            event async for event in follow(self._client, self.handle.id) if not isinstance(event, Snapshot)
        ]
        finished = await self._finished(result, events)
        self._ended(finished)
        return finished

    async def _result(self) -> RunResult | None:
        try:
            return await self.handle.result()
        except WorkflowFailureError:
            return None

    async def _finished(self, result: RunResult | None, events: Sequence[Event]) -> FinishedRun:
        transcript = Transcript(tuple(self._turns), tuple(self._plan.event(event) for event in events))
        ending = reduce_events(events).finished
        return FinishedRun(
            status=ending.status if ending else "failed",
            answer=result.answer if result else "",
            error=ending.error if ending else None,
            result=result,
            transcript=transcript,
            histories=await chain_of(self._client, self.handle.id),
        )
