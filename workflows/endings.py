"""Every way in which a tool activity ends, turned into an outcome. This is the one place."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from pydantic import ValidationError
from temporalio import workflow
from temporalio.common import RawValue
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ServerError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
    TimeoutType,
)

from activities.interface import EXCERPT_METADATA, EXECUTOR_METADATA, STARTED_AT_METADATA, Capture
from surefoot import failures
from surefoot.admission import Admitted
from surefoot.failures import Captured
from surefoot.outcome import ERROR_CODES, ErrorCode, ToolFailure, ToolSuccess
from surefoot.reply import check_answer
from surefoot.sizes import MAX_ANSWER_VALUES
from surefoot.strict_json import NotStrictJsonError, encode_json, most_values_of, surely_more_values_than
from surefoot.truncation import keep_ends
from workflows.pace import Pace
from workflows.payloads import UndecodableError, json_value
from workflows.pickup import reason_not_picked_up
from workflows.registration import is_unknown_to_executor

CANCEL_GRACE = timedelta(seconds=5)
"""How long a cancelled run waits for an executor to kill what it runs."""

# The server's words for an answer that it refuses, and what its words for anything else have in common.
_ANSWER_TOO_LARGE = "Complete result exceeds size limit"
_TOO_LARGE = "size limit"


@dataclass(frozen=True)
class Start:
    """When a call started and who ran it, as far as anyone said."""

    started_at: str | None
    executor: str | None


@dataclass(frozen=True)
class Ending:
    """The outcome of a call; `start` is None for one that never started."""

    outcome: ToolSuccess | ToolFailure
    start: Start | None
    answer_bytes: int = 0
    """What the answer takes of the history, whatever became of it; 0 where there is none."""
    answer_values: int = 0
    """How many JSON values of the answer the run keeps, guessed from above."""


async def ending_of(
    call: Admitted, execution: workflow.ActivityHandle[RawValue], *, queue: str, pace: Pace
) -> Ending:
    """Wait for a tool activity to end, however it ends.

    Raises:
        CancelledError: only when the run itself was cancelled.
    """
    try:
        await workflow.wait([execution])
    except asyncio.CancelledError:
        await _let_go(execution)
        if workflow.cancellation_reason() is not None:
            raise
    if not execution.done() or execution.cancelled():
        # Its executor did not obey. It had started: the server itself cancels a call that has not.
        return Ending(failures.cancelled(call.definition.name), Start(None, None))
    try:
        raw = await execution
    except (ActivityError, CancelledError) as error:
        return await _failed(call, error, queue)
    data = _data(raw)
    try:
        await pace.take(data)
    except asyncio.CancelledError:
        # An operator who cancels a call that has just ended comes too late: its answer counts.
        if workflow.cancellation_reason() is not None:
            raise
    outcome = _answered(call, raw)
    values = most_values_of(data) if isinstance(outcome, ToolSuccess) else 0
    return Ending(outcome, _start_in(raw), answer_bytes=len(data), answer_values=values)


async def _let_go(execution: workflow.ActivityHandle[RawValue]) -> None:
    """Cancel a call and give its executor the grace to kill it; one that does not obey is not waited for."""
    execution.cancel()
    execution.add_done_callback(_hear)
    with suppress(asyncio.CancelledError):
        await workflow.wait([execution], timeout=CANCEL_GRACE.total_seconds())
        return
    # The run was cancelled while one of its calls was: that call, too, is given the time to be killed.
    await workflow.wait([execution], timeout=CANCEL_GRACE.total_seconds())


def _hear(execution: "asyncio.Task[RawValue]") -> None:
    """Take note of a failure that nobody waits for any more."""
    if not execution.cancelled():
        execution.exception()


def _answered(call: Admitted, raw: RawValue | None) -> ToolSuccess | ToolFailure:
    tool = call.definition.name
    data = _data(raw)
    # To parse a mebibyte of nothing but brackets takes about as long as a workflow task may.
    if surely_more_values_than(MAX_ANSWER_VALUES, data):
        return failures.too_many_values(tool, _bounded(call, stdout=_head(call, data)), exit_code=None)
    try:
        answer = json_value(raw)
    except (UndecodableError, NotStrictJsonError) as error:
        return failures.undecodable(tool, str(error), _bounded(call, stdout=_head(call, data)))
    whole = raw is None or EXCERPT_METADATA not in raw.payload.metadata
    schema = call.definition.output_schema if whole else None
    return check_answer(
        tool,
        answer,
        captured=lambda: _bounded(call, stdout=encode_json(answer)),
        output_schema=schema,
        exit_code=None,
    )


async def _failed(call: Admitted, error: ActivityError | CancelledError, queue: str) -> Ending:
    tool = call.definition.name
    match error.__cause__ if isinstance(error, ActivityError) else error:
        case TimeoutError(type=TimeoutType.SCHEDULE_TO_START):
            return await _not_picked_up(call, error, queue)
        case TimeoutError() as cause:
            return _out_of_time(call, cause, _identity(error))
        case ApplicationError() as cause if is_unknown_to_executor(cause, tool):
            return Ending(failures.not_found_on_executor(tool), Start(None, _identity(error)))
        case ApplicationError() as cause:
            capture = _read_capture(cause.details)
            outcome = _reported(call, cause, capture)
            return Ending(outcome, Start(capture.started_at, _identity(error)))
        case CancelledError() as cause:
            return _cancelled(call, _read_capture(cause.details), error)
        case ServerError(message=message) if _ANSWER_TOO_LARGE in message:
            return Ending(failures.output_too_large(tool), Start(None, _identity(error)))
        case ServerError(message=message) if _TOO_LARGE in message:
            return Ending(failures.sent_too_much(tool), Start(None, _identity(error)))
        case cause:
            return Ending(failures.raised(tool, str(cause)), Start(None, _identity(error)))


async def _not_picked_up(call: Admitted, error: ActivityError | CancelledError, queue: str) -> Ending:
    tool_exec_id = error.activity_id if isinstance(error, ActivityError) else ""
    reason = await reason_not_picked_up(queue, tool_exec_id=tool_exec_id)
    definition = call.definition
    failure = failures.not_picked_up(definition.name, definition.pickup_timeout, queue=queue, reason=reason)
    return Ending(failure, None)


def _out_of_time(call: Admitted, cause: TimeoutError, identity: str | None) -> Ending:
    tool = call.definition.name
    capture = _read_capture(cause.last_heartbeat_details)
    shown = _bounded(call, stdout=capture.stdout, stderr=capture.stderr)
    start = Start(capture.started_at, identity)
    match cause.type:
        case TimeoutType.HEARTBEAT:
            return Ending(failures.lost(tool, shown), start)
        case _:
            return Ending(failures.timed_out(tool, call.timeout, shown), start)


def _reported(call: Admitted, cause: ApplicationError, capture: Capture) -> ToolFailure:
    tool = call.definition.name
    shown = _bounded(call, stdout=capture.stdout, stderr=capture.stderr)
    match cause.type:
        case str(code) if code in ERROR_CODES:
            error_code = cast(ErrorCode, code)
            return failures.reported(tool, error_code, cause.message, shown, exit_code=capture.exit_code)
        case "WorkerShutdown":
            return failures.interrupted(tool, shown)
        # SDKs' words for an answer or a heartbeat that they do not send: Python's now and before, and Go's.
        case "PayloadsTooLarge" | "PayloadSizeError" | "payloadSizeError":
            return failures.sent_too_much(tool, shown)
        case kind:
            return failures.raised(tool, f"{kind}: {cause.message}" if kind else cause.message, shown)


def _cancelled(call: Admitted, capture: Capture, error: ActivityError | CancelledError) -> Ending:
    shown = _bounded(call, stdout=capture.stdout, stderr=capture.stderr)
    started = isinstance(error, ActivityError) and error.started_event_id > 0
    start = Start(capture.started_at, _identity(error)) if started else None
    return Ending(failures.cancelled(call.definition.name, shown), start)


def _identity(error: ActivityError | CancelledError) -> str | None:
    return error.identity or None if isinstance(error, ActivityError) else None


def _read_capture(details: Sequence[object]) -> Capture:
    # An executor in another language may have put anything here; a capture that cannot be read is none.
    try:
        return Capture.model_validate(details[0]) if details else Capture()
    except ValidationError:
        return Capture()


def _start_in(raw: RawValue | None) -> Start:
    if raw is None:
        return Start(None, None)
    metadata = raw.payload.metadata
    started_at = metadata.get(STARTED_AT_METADATA, b"").decode("utf-8", "replace")
    executor = metadata.get(EXECUTOR_METADATA, b"").decode("utf-8", "replace")
    return Start(started_at or None, executor or None)


def _data(raw: RawValue | None) -> bytes:
    return raw.payload.data if raw is not None else b""


def _head(call: Admitted, data: bytes) -> str:
    return data[: call.definition.limits.stdout * 2].decode("utf-8", "replace")


def _bounded(call: Admitted, *, stdout: str = "", stderr: str = "") -> Captured:
    limits = call.definition.limits
    return Captured(keep_ends(stdout, limits.stdout), keep_ends(stderr, limits.stderr))
