"""Questions about tool calls and their decisions, as people read them."""

from collections.abc import Iterator
from datetime import UTC

from console.safe_text import safe_line
from surefoot.events import (
    ApprovalDenied,
    ApprovalEvent,
    ApprovalGiven,
    ApprovalRequested,
)
from surefoot.masking import masked_params
from surefoot.redaction import REDACTED
from surefoot.strict_json import encode_json

_MAX_NAME_CHARACTERS = 60
_MAX_REASON_CHARACTERS = 500


def approval_text(event: ApprovalEvent) -> str:
    """Print on one line what is asked about a call, or was decided."""
    call = f"{safe_line(event.tool, 64)} ({safe_line(event.tool_exec_id)})"
    match event:
        case ApprovalRequested(why=why, deadline=deadline):
            until = f", until {deadline.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if deadline else ""
            return f"{call} waits for approval{until}: {safe_line(why, _MAX_REASON_CHARACTERS)}"
        case ApprovalGiven(scope=scope, params=params, redact=redact):
            all_calls = ", and every call of the tool in this run" if scope == "run" else ""
            edited = (
                ""
                if params is None
                else f", with other arguments: {safe_line(encode_json(masked_params(params, redact)))}"
            )
            return f"{call} approved{_by(event.by, event.signed_by)}{all_calls}{edited}"
        case ApprovalDenied(reason=reason):
            why = safe_line(reason, _MAX_REASON_CHARACTERS)
            return f"{call} denied{_by(event.by, event.signed_by)}: {why}"


def question_lines(question: ApprovalRequested, *, reveal: bool = False) -> Iterator[str]:
    """Print what is asked, and all arguments of the call exactly, each on a line of its own.

    Only what the tool's definition hides is left out, unless it is to be revealed. What merely looks like a
    secret is printed: a model could hide in it what nobody would approve.
    """
    yield approval_text(question)
    shown = question.params if reveal else masked_params(question.params, question.redact)
    for name, value in shown.items():
        yield f"  {_visible(encode_json(name))}: {_visible(encode_json(value))}"
    if shown != question.params:
        yield f"  (what is {REDACTED} is shown with `--reveal`, or by the answer `reveal`)"


def approval_lines(event: ApprovalEvent) -> Iterator[str]:
    """Print a question with all its arguments, or a decision."""
    match event:
        case ApprovalRequested():
            yield from question_lines(event)
        case ApprovalGiven() | ApprovalDenied():
            yield approval_text(event)


def _visible(json: str) -> str:
    """Give the same JSON on one line, with everything in it that cannot be seen as an escape."""
    return "".join(one if one.isprintable() else _escape(one) for one in json)


def _escape(character: str) -> str:
    code = ord(character)
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    # JSON has no other way for what is beyond.
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _by(name: str | None, key: str | None) -> str:
    said = f" by {safe_line(name, _MAX_NAME_CHARACTERS)}" if name else ""
    return f"{said}, signed by the key {safe_line(key, _MAX_NAME_CHARACTERS)}" if key else said
