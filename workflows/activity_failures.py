"""Every failure of a tool activity, turned into what the call came to."""

from collections.abc import Sequence
from typing import cast

from pydantic import ValidationError
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    ServerError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
    TimeoutType,
)

from activities.interface import Capture
from surefoot import failures
from surefoot.admission import Admitted
from surefoot.outcome import ERROR_CODES, ErrorCode, ToolFailure
from workflows.ending import Ending, Start, bounded
from workflows.pickup import reason_not_picked_up
from workflows.registration import is_unknown_to_executor

# The server's words for an answer that it refuses, and what its words for anything else have in common.
_ANSWER_TOO_LARGE = "Complete result exceeds size limit"
_TOO_LARGE = "size limit"


async def ending_in_failure(call: Admitted, error: ActivityError | CancelledError, *, queue: str) -> Ending:
    """Tell the model's outcome, and whether the call had started; asks the queue about one nobody took."""
    tool = call.definition.name
    match error.__cause__ if isinstance(error, ActivityError) else error:
        case TimeoutError(type=TimeoutType.SCHEDULE_TO_START):
            return await _not_picked_up(call, error, queue)
        case TimeoutError() as cause:
            return _out_of_time(call, cause, _identity(error))
        case ApplicationError() as cause if is_unknown_to_executor(cause, tool):
            return Ending(failures.not_found_on_executor(tool), Start(None, _identity(error)))
        case ApplicationError(cause=ApplicationError(type="KeyUnknownError", message=reason)):
            # The SDK reads what a call was given before any code of ours runs.
            return Ending(failures.not_started(tool, 126, reason), Start(None, _identity(error)))
        case ApplicationError() as cause:
            capture = _read_capture(cause.details)
            outcome = _reported(call, cause, capture)
            return Ending(outcome, _start(capture, _identity(error)))
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
    shown = bounded(call, stdout=capture.stdout, stderr=capture.stderr)
    start = _start(capture, identity)
    match cause.type:
        case TimeoutType.HEARTBEAT:
            return Ending(failures.lost(tool, shown), start)
        case _:
            return Ending(failures.timed_out(tool, call.timeout, shown), start)


def _reported(call: Admitted, cause: ApplicationError, capture: Capture) -> ToolFailure:
    tool = call.definition.name
    shown = bounded(call, stdout=capture.stdout, stderr=capture.stderr)
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
    shown = bounded(call, stdout=capture.stdout, stderr=capture.stderr)
    started = isinstance(error, ActivityError) and error.started_event_id > 0
    start = _start(capture, _identity(error)) if started else None
    return Ending(failures.cancelled(call.definition.name, shown), start)


def _start(capture: Capture, identity: str | None) -> Start:
    return Start(capture.started_at, identity, sandbox=capture.sandbox)


def _identity(error: ActivityError | CancelledError) -> str | None:
    return error.identity or None if isinstance(error, ActivityError) else None


def _read_capture(details: Sequence[object]) -> Capture:
    # An executor in another language may have put anything here; a capture that cannot be read is none.
    try:
        return Capture.model_validate(details[0]) if details else Capture()
    except ValidationError:
        return Capture()
