"""One call of a fake tool, carried out so that the run sees what it would see of a real one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from pydantic import JsonValue
from temporalio import activity
from temporalio.client import AsyncActivityCancelledError
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.interface import Capture, ToolCallInput
from surefoot.outcome import ToolFailure
from surefoot.run import CANCEL_TOOL_CALL_UPDATE, CancelToolCall
from surefoot.testing.behaviour import AT_ONCE, Behaviour, Fails, failure_of
from surefoot.testing.clock import Clock

_FOR_EVER = timedelta(days=36_525)


@dataclass(frozen=True)
class Performance:
    """A call that a fake was given, and how time passes there."""

    call: ToolCallInput
    clock: Clock
    report: Callable[[str, ToolFailure], None]
    """Is told which failure of which tool is about to be reported."""

    async def of(self, told: Behaviour) -> JsonValue:
        """Do what the fake was told.

        Raises:
            ApplicationError: what an executor raises.
        """
        if isinstance(told, Fails):
            await self._fail(told)
        await self._pass(told.after, Capture())
        made = told.answer(self.call.params) if callable(told.answer) else told.answer
        return await made if inspect.isawaitable(made) else made

    async def _fail(self, told: Fails) -> NoReturn:
        capture = Capture(stdout=told.stdout, stderr=told.stderr, started_at=datetime.now(UTC).isoformat())
        timeout = timedelta(seconds=self.call.timeout_seconds)
        await self._pass(timeout if told.error_code == "TOOL_TIMEOUT" else told.after, capture)
        match told.error_code:
            case "TOOL_LOST":
                await self._fall_silent(capture)
            case "TOOL_NOT_FOUND":
                raise _unknown(self.call.tool)
            case "TOOL_CANCELLED":
                await _be_cancelled(capture)
            case _:
                pass
        failure = failure_of(told, self.call.tool, timeout=timeout)
        self.report(self.call.tool, failure)
        raise _reported(failure, started_at=capture.started_at)

    async def _pass(self, duration: timedelta, capture: Capture) -> None:
        """Skip time; a tool that is expected to beat goes on doing so."""
        info = activity.info()
        deadline = info.started_time + (info.start_to_close_timeout or _FOR_EVER)
        if await self.clock.now() + duration >= deadline:
            await self._be_overtaken(deadline)
        leap = duration if info.heartbeat_timeout is None else info.heartbeat_timeout / 2
        while duration > AT_ONCE:
            if info.heartbeat_timeout is not None:
                await _beat(capture)
            await self.clock.skip(min(leap, duration))
            duration -= leap

    async def _fall_silent(self, capture: Capture) -> NoReturn:
        await _beat(capture)
        silence = activity.info().heartbeat_timeout or AT_ONCE
        await self._be_overtaken(await self.clock.now() + silence)

    async def _be_overtaken(self, deadline: datetime) -> NoReturn:
        """Say nothing more, and let the server end the call at its deadline."""
        await self.clock.skip_to_just_before(deadline)
        activity.raise_complete_async()


def _reported(failure: ToolFailure, *, started_at: str | None) -> ApplicationError:
    """Give what our executors raise for a failure."""
    return ApplicationError(
        failure.error,
        Capture(
            exit_code=failure.exit_code, stdout=failure.stdout, stderr=failure.stderr, started_at=started_at
        ),
        type=failure.error_code,
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )


def _unknown(tool: str) -> ApplicationError:
    return ApplicationError(
        f"Activity function {tool} is not registered on this worker", type="NotFoundError"
    )


async def _be_cancelled(capture: Capture) -> None:
    """Be the operator who cancels this call, and then the tool that hears of it."""
    info = activity.info()
    # As pyright sees it, the SDK's own type of this method is partly unknown.
    run: Any = activity.client().get_workflow_handle(info.workflow_id or "")
    await run.execute_update(CANCEL_TOOL_CALL_UPDATE, CancelToolCall(tool_exec_id=info.activity_id))
    while not await _beat(capture):
        pass


async def _beat(capture: Capture) -> bool:
    """Beat past the SDK, which would hold the beat back; tells whether the call is cancelled."""
    beats: Any = activity.client().get_async_activity_handle(task_token=activity.info().task_token)
    try:
        await beats.heartbeat(capture)
    except AsyncActivityCancelledError:
        return True
    return False
