"""Every way in which a tool call ends without a valid answer, with its fixed text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches

from surefoot.outcome import NEVER_ACTED, REPORTABLE, Acted, ErrorCode, ToolFailure
from surefoot.sizes import MAX_ANSWER_BYTES, MAX_ANSWER_VALUES, MAX_ERROR_BYTES, count

_NOT_STARTED = "could not be started: "
# Anchored, for what a tool raised may well say that something else could not be started.
_NEVER_STARTED = re.compile(rf"Tool '[^']*' {_NOT_STARTED}")
_NOT_STARTED_EXIT_CODES = (126, 127)


@dataclass(frozen=True)
class Captured:
    """What a tool had written before it failed, already bounded for the model."""

    stdout: str = ""
    stderr: str = ""


NOTHING = Captured()


def timed_out(tool: str, after: timedelta, captured: Captured = NOTHING) -> ToolFailure:
    """The tool ran past its timeout and was killed."""
    return _failure("TOOL_TIMEOUT", f"Tool '{tool}' timed out after {seconds(after)}", captured)


def crashed(tool: str, exit_code: int, captured: Captured = NOTHING) -> ToolFailure:
    """The tool ended with an exit code that is not 0; killed by signal n is 128+n."""
    return _failure(
        "TOOL_CRASHED", f"Tool '{tool}' crashed with exit code {exit_code}", captured, exit_code=exit_code
    )


def not_started(tool: str, exit_code: int | None, reason: str) -> ToolFailure:
    """The tool could not be started: 126 when it is not executable, 127 when something is missing."""
    return _failure("TOOL_CRASHED", f"Tool '{tool}' {_NOT_STARTED}{reason}", exit_code=exit_code)


def raised(tool: str, reason: str, captured: Captured = NOTHING) -> ToolFailure:
    """An executor failed in a way that is not part of the contract."""
    return _failure("TOOL_CRASHED", f"Tool '{tool}' crashed: {reason}", captured)


def invalid_json(tool: str, captured: Captured, *, exit_code: int | None = 0) -> ToolFailure:
    """The tool ended well, and its answer is not one strict JSON value."""
    return _failure("INVALID_OUTPUT", f"Tool '{tool}' returned invalid JSON", captured, exit_code=exit_code)


def schema_mismatch(
    tool: str, problems: Sequence[str], captured: Captured, *, exit_code: int | None
) -> ToolFailure:
    """The answer is JSON, and not what the definition's outputSchema says."""
    text = f"Tool '{tool}' returned JSON that does not match its output schema: {'; '.join(problems)}"
    return _failure("INVALID_OUTPUT", text, captured, exit_code=exit_code)


def undecodable(tool: str, reason: str, captured: Captured = NOTHING) -> ToolFailure:
    """The executor's answer is not a JSON value in the encoding that Temporal calls `json/plain`."""
    text = f"Tool '{tool}' returned an answer that cannot be decoded: {reason}"
    return _failure("INVALID_OUTPUT", text, captured)


def output_too_large(
    tool: str, captured: Captured = NOTHING, *, size_bytes: int | None = None, exit_code: int | None = None
) -> ToolFailure:
    """The answer is above the size cap; `size_bytes` is None when only the server knows it."""
    size = "" if size_bytes is None else f" of {size_bytes:,} bytes"
    limit = count(MAX_ANSWER_BYTES)
    text = f"Tool '{tool}' returned an answer{size} above the limit of {limit}; ask for less at once"
    return _failure("OUTPUT_TOO_LARGE", text, captured, exit_code=exit_code)


def sent_too_much(tool: str, captured: Captured = NOTHING) -> ToolFailure:
    """The server, or the executor's SDK, refused to carry what it sent; which of these, they may not say."""
    text = f"Tool '{tool}' sent more than fits an answer, a failure or a heartbeat; ask for less at once"
    return _failure("OUTPUT_TOO_LARGE", text, captured)


def too_many_values(tool: str, captured: Captured, *, exit_code: int | None) -> ToolFailure:
    """The answer is within the size cap, and consists of too many JSON values."""
    text = f"Tool '{tool}' returned an answer of more than {MAX_ANSWER_VALUES:,} values; ask for less at once"
    return _failure("OUTPUT_TOO_LARGE", text, captured, exit_code=exit_code)


def input_too_large(tool: str, *, size_bytes: int, limit_bytes: int, of: str) -> ToolFailure:
    """The params are above the cap; `of` names what was measured, e.g. "its params"."""
    limit = count(limit_bytes)
    text = f"Tool '{tool}' was not called: {of} are {size_bytes:,} bytes, above the limit of {limit}"
    return _failure("INPUT_TOO_LARGE", text)


def not_picked_up(tool: str, within: timedelta, *, queue: str, reason: str) -> ToolFailure:
    """No executor started the call in time."""
    text = f"Tool '{tool}' was not picked up within {seconds(within)} on '{queue}': {reason}"
    return _failure("TOOL_INVOCATION_TIMEOUT", text)


def lost(
    tool: str, captured: Captured = NOTHING, *, why: str = "its worker stopped answering"
) -> ToolFailure:
    """The worker that ran the call died or went silent; or `why` else nobody will ever hear of it."""
    text = f"Tool '{tool}' was lost: {why}; it may or may not have taken effect"
    return _failure("TOOL_LOST", text, captured)


def interrupted(tool: str, captured: Captured = NOTHING) -> ToolFailure:
    """The worker was shut down before the call finished."""
    text = (
        f"Tool '{tool}' was interrupted: its worker was shut down before it finished; "
        "it may or may not have taken effect"
    )
    return _failure("TOOL_INTERRUPTED", text, captured)


def cancelled(tool: str, captured: Captured = NOTHING) -> ToolFailure:
    """An operator cancelled this one call."""
    return _failure("TOOL_CANCELLED", f"Tool '{tool}' was cancelled by an operator", captured)


def denied(tool: str, reason: str) -> ToolFailure:
    """Approval of the call was refused."""
    return _failure("TOOL_DENIED", f"Tool '{tool}' was not called, it was not approved: {reason}")


def limit_reached(tool: str, limit: str) -> ToolFailure:
    """A limit of the run was reached before the call was made."""
    return _failure("LIMIT_REACHED", f"Tool '{tool}' was not called: {limit}")


def not_found(tool: str, known: Sequence[str]) -> ToolFailure:
    """The model asked for a tool that it was never given."""
    close = get_close_matches(tool, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"the tools are: {', '.join(known)}"
    return _failure(
        "TOOL_NOT_FOUND", f"There is no tool '{tool[:64]}'; {hint if known else 'there are no tools'}"
    )


def not_found_on_executor(tool: str) -> ToolFailure:
    """The executor that picked the call up does not have the tool."""
    return _failure("TOOL_NOT_FOUND", f"Tool '{tool}' is not known to the executor that was asked for it")


def invalid_params(tool: str, problems: Sequence[str]) -> ToolFailure:
    """The params are not a JSON object, or fail the definition's inputSchema."""
    return _failure(
        "INVALID_PARAMS", f"Tool '{tool}' was not called, its params are invalid: {'; '.join(problems)}"
    )


def reported(
    tool: str,
    error_code: ErrorCode,
    error: str,
    captured: Captured = NOTHING,
    *,
    exit_code: int | None = None,
) -> ToolFailure:
    """A failure that an executor told us in the contract's own terms.

    An executor was given the call: what it says as if it never had been, or as if the tool had never started
    without the exit code that proves it, is told as a crash that may have taken effect.
    """
    failure = _failure(error_code, error, captured, exit_code=exit_code)
    if error_code not in REPORTABLE:
        return _claimed(tool, f"claimed {error_code}: {error}", failure)
    if _NEVER_STARTED.match(error) and not _never_started(failure):
        return _claimed(tool, f"said: {error}", failure)
    return failure


def acted(failure: ToolFailure, *, started: bool = True) -> Acted:
    """Tell whether the failed call may have taken effect; `started` is False when no executor took it."""
    never = not started or failure.error_code in NEVER_ACTED or _never_started(failure)
    return "no" if never else "unknown"


def _never_started(failure: ToolFailure) -> bool:
    return (
        failure.error_code == "TOOL_CRASHED"
        and failure.exit_code in _NOT_STARTED_EXIT_CODES
        and not failure.stdout
        and not failure.stderr
        and _NEVER_STARTED.match(failure.error) is not None
    )


def _claimed(tool: str, claim: str, failure: ToolFailure) -> ToolFailure:
    text = f"Tool '{tool}' crashed: it may or may not have taken effect; its executor {claim}"
    captured = Captured(failure.stdout, failure.stderr)
    return _failure("TOOL_CRASHED", text, captured, exit_code=failure.exit_code)


def seconds(duration: timedelta) -> str:
    """Print a duration as the seeds do: `30s`, `1.5s`; to the millisecond."""
    return f"{duration.total_seconds():.3f}".rstrip("0").rstrip(".") + "s"


def _failure(
    error_code: ErrorCode, error: str, captured: Captured = NOTHING, *, exit_code: int | None = None
) -> ToolFailure:
    return ToolFailure(
        error=_bounded(error),
        error_code=error_code,
        exit_code=exit_code,
        stdout=captured.stdout,
        stderr=captured.stderr,
    )


def _bounded(error: str) -> str:
    encoded = error.encode("utf-8", "replace")
    if len(encoded) <= MAX_ERROR_BYTES:
        return encoded.decode("utf-8")
    return encoded[: MAX_ERROR_BYTES - 3].decode("utf-8", "ignore") + "…"
