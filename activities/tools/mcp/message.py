"""A line of a server, read as a message."""

import re

from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import JsonValue, ValidationError

from activities.tools.mcp.endings import Unreadable
from surefoot.strict_json import NotStrictJsonError, strict_json

_SHOWN_BYTES = 64 * 1024
"""What is kept of a line that is no message, to be shown."""

_OF_PEOPLE = re.compile(rb"\s*(?:\[|\{')")
"""How `[INFO] log lines` begin, and what Python prints of its objects."""

_OF_MESSAGES = frozenset({"jsonrpc", "id", "method", "result", "error"})
"""Members of which a message has some; a log line in JSON has none of them, as a rule."""


def read_message(line: bytes) -> JSONRPCMessage | Unreadable | None:
    """Read a line; None is text that was never meant to be a message, but to be read by people."""
    begins_like_json = line.lstrip()[:1] in (b"{", b"[")
    try:
        value = strict_json(line) if begins_like_json else None
    except NotStrictJsonError as error:
        return None if _OF_PEOPLE.match(line) else _unreadable(line, str(error))
    match value:
        case list():
            return _unreadable(line, "a message is an object")
        case dict() if value.keys() & _OF_MESSAGES:
            return _checked(line, value)
        case _:
            return None


def _checked(line: bytes, value: dict[str, JsonValue]) -> JSONRPCMessage | Unreadable:
    try:
        return jsonrpc_message_adapter.validate_python(_known(value), by_name=False)
    except ValidationError:
        return _unreadable(line, "it is no message of JSON-RPC 2.0")


def _known(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    # A null beside the answer means nothing; as the answer itself it does.
    return {name: part for name, part in value.items() if part is not None or name in ("id", "result")}


def _unreadable(line: bytes, reason: str) -> Unreadable:
    return Unreadable(reason, line[:_SHOWN_BYTES].decode("utf-8", "replace"))
