"""What a fake tool does with one call."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from surefoot import failures
from surefoot.failures import Captured
from surefoot.outcome import ErrorCode, ToolFailure
from surefoot.sizes import MAX_ANSWER_BYTES, MAX_PARAMS_BYTES

Params = dict[str, JsonValue]
Answer = Callable[[Params], JsonValue | Awaitable[JsonValue]]
"""Makes an answer of a call's params; an error that it raises is TOOL_CRASHED, as an executor's is."""

AT_ONCE = timedelta(0)


@dataclass(frozen=True)
class Answers:
    """The tool gives a valid answer: a JSON value, or what a function makes of the params."""

    answer: JsonValue | Answer
    after: timedelta = AT_ONCE


@dataclass(frozen=True)
class Fails:
    """The tool gives no valid answer; `reason` is what differs in the error from call to call."""

    error_code: ErrorCode
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    reason: str | None = None
    after: timedelta = AT_ONCE


Behaviour = Answers | Fails

NOT_PICKED_UP: ErrorCode = "TOOL_INVOCATION_TIMEOUT"


def failure_of(told: Fails, tool: str, *, timeout: timedelta) -> ToolFailure:
    """Give the failure in the contract's own words; `timeout` is the call's."""
    return _FAILURES[told.error_code](tool, told, timeout)


def _captured(told: Fails) -> Captured:
    return Captured(told.stdout, told.stderr)


def _crashed(tool: str, told: Fails, _: timedelta) -> ToolFailure:
    if told.reason is not None:
        return failures.raised(tool, told.reason, _captured(told))
    return failures.crashed(tool, 1 if told.exit_code is None else told.exit_code, _captured(told))


def _input_too_large(tool: str, _: Fails, __: timedelta) -> ToolFailure:
    limit = MAX_PARAMS_BYTES
    return failures.input_too_large(tool, size_bytes=2 * limit, limit_bytes=limit, of="its params")


def _output_too_large(tool: str, told: Fails, _: timedelta) -> ToolFailure:
    return failures.output_too_large(tool, _captured(told), size_bytes=2 * MAX_ANSWER_BYTES, exit_code=0)


_FAILURES: Mapping[ErrorCode, Callable[[str, Fails, timedelta], ToolFailure]] = {
    "TOOL_TIMEOUT": lambda tool, told, timeout: failures.timed_out(tool, timeout, _captured(told)),
    "TOOL_CRASHED": _crashed,
    "INVALID_OUTPUT": lambda tool, told, _: failures.invalid_json(tool, _captured(told)),
    "OUTPUT_TOO_LARGE": _output_too_large,
    "INPUT_TOO_LARGE": _input_too_large,
    "TOOL_INTERRUPTED": lambda tool, told, _: failures.interrupted(tool, _captured(told)),
    "TOOL_CANCELLED": lambda tool, told, _: failures.cancelled(tool, _captured(told)),
    "TOOL_DENIED": lambda tool, told, _: failures.denied(tool, told.reason or "the answer was no"),
    "LIMIT_REACHED": lambda tool, told, _: failures.limit_reached(tool, told.reason or "a limit is reached"),
    "INVALID_PARAMS": lambda tool, told, _: failures.invalid_params(tool, [told.reason or "refused"]),
}
"""What is reported of a call; a run finds out by itself that one was lost, not picked up or not known."""
