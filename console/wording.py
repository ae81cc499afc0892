"""Parts of a run in a few words, safe for a terminal; shared by all that people read."""

from collections.abc import Iterator
from decimal import Decimal

from pydantic import JsonValue

from console.durations import between
from console.progress import CallProgress, Progress
from console.safe_text import safe_line, safe_text
from surefoot.events import RunFinished
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import encode_json
from surefoot.summary import summarize_params
from surefoot.usage import Usage

UNTRUSTED_FROM_HERE = "the run has read untrusted content from here on"

_MAX_ERROR_CHARACTERS = 500
_MAX_LINE_CHARACTERS = 2_000


def arguments(call: CallProgress) -> str:
    """Print a call's arguments on one short line; those that are no object stand as the model wrote them."""
    match call.params:
        case None:
            return ""
        case dict() as params:
            return safe_text(summarize_params({name: _safe(value) for name, value in params.items()}))
        case other:
            return _shown(other)


def tool_name(call: CallProgress) -> str:
    """Print what is called; a model may ask for a tool of any name."""
    return safe_line(call.execution.tool, 64)


def call_title(call: CallProgress) -> str:
    """Print what is called: `bash: ls -la src/`."""
    given = arguments(call)
    return f"{tool_name(call)}: {given}" if given else tool_name(call)


def time_taken(call: CallProgress) -> str | None:
    """Print how long an ended call took; None for one that was never scheduled."""
    return between(call.since, call.execution.ended_at)


def failure_text(failure: ToolFailure) -> str:
    """Print why a call failed, on one line."""
    return safe_line(failure.error, _MAX_ERROR_CHARACTERS)


def answer_preview(success: ToolSuccess) -> str:
    """Print the beginning of a tool's answer on one line: what is short first, and nothing that is empty."""
    match success.result:
        case dict() as fields:
            told = [(name, value) for name, value in fields.items() if not _is_empty(value)]
            told.sort(key=lambda field: isinstance(field[1], str | list | dict))
            return " · ".join(f"{safe_line(name)}: {_shown(value)}" for name, value in told[:8])
        case value:
            return _shown(value)


def last_lines(text: str, count: int) -> list[str]:
    """Give the last lines of a tool's output that are not blank; a carriage return ends one, too."""
    tail = text[-count * _MAX_LINE_CHARACTERS :].replace("\r", "\n")
    lines = [line for line in tail.split("\n") if line.strip()]
    return [safe_text(line[-_MAX_LINE_CHARACTERS:]) for line in lines[-count:]]


def first_lines(text: str, count: int) -> Iterator[str]:
    """Give the first lines of a text, and how many more there are."""
    lines = text.strip().split("\n") if text.strip() else []
    for line in lines[:count]:
        yield safe_text(line if len(line) <= _MAX_LINE_CHARACTERS else f"{line[:_MAX_LINE_CHARACTERS]}…")
    if len(lines) > count:
        yield f"… {counted(len(lines) - count, 'more line')}"


def counted(number: int, thing: str) -> str:
    """Print a number of things: `1 tool call`, `2,500 tool calls`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def status_text(finished: RunFinished) -> str:
    """Print how a run ended."""
    return finished.status.replace("_", " ")


def run_error(error: str) -> str:
    """Print why a run did not complete, on one line."""
    return safe_line(error, _MAX_ERROR_CHARACTERS)


def totals(progress: Progress, finished: RunFinished) -> str:
    """Print what a run amounted to, on one line."""
    failed = f" ({progress.failed_executions:,} failed)" if progress.failed_executions else ""
    parts = [
        counted(progress.turn, "turn"),
        counted(progress.executions, "tool call") + failed,
        between(progress.started_at, finished.time),
        _spending(finished.usage),
    ]
    return ", ".join(part for part in parts if part)


def _spending(usage: Usage) -> str:
    if not usage.input_tokens and not usage.output_tokens:
        return ""
    paid = max(usage.input_tokens - usage.cache_read_tokens, 0)
    cached = f" ({usage.cache_read_tokens:,} cached, {paid:,} paid)" if usage.cache_read_tokens else ""
    tokens = f"{counted(usage.input_tokens, 'token')} in{cached}, {usage.output_tokens:,} out"
    return tokens if usage.cost is None else f"{tokens}, {_dollars(usage.cost)}"


def _dollars(cost: Decimal) -> str:
    """Print dollars to the cent, and small amounts to a hundredth of one."""
    if 0 < cost < Decimal("0.0001"):
        return "less than $0.0001"
    return f"${cost:,.4f}" if 0 < cost < 1 else f"${cost:,.2f}"


def _shown(value: JsonValue) -> str:
    return safe_line(value if isinstance(value, str) else encode_json(value))


def _safe(value: JsonValue) -> JsonValue:
    return safe_text(value) if isinstance(value, str) else value


def _is_empty(value: JsonValue) -> bool:
    return value is None or value is False or value in ("", [], {})
