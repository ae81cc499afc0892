"""What an error of the SDK stands for: it has one class for what a server said and for what became of it."""

import re

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from pydantic import ValidationError

from activities.tools.mcp import endings
from activities.tools.mcp.endings import Broken, CallEnding, Failed, Refused, TooLarge, Unreadable
from activities.tools.mcp.wire import Wire

SDK_CLOSED = "Connection closed"
"""What the SDK says when it does not say why."""

_OF_THE_SDK = {
    (PARSE_ERROR, "Failed to parse "),
    (INVALID_REQUEST, "Unexpected content type"),
    (INVALID_REQUEST, "server answered a request with 202"),
}
"""How the SDK's own errors begin where a server's answer was none."""

_OF_A_STATUS = {
    (INTERNAL_ERROR, "Server returned an error response"),
    (METHOD_NOT_FOUND, "Not Found"),
    (INVALID_REQUEST, "Session terminated"),
}
"""What the SDK makes of an HTTP status without an error of the protocol."""


_NOT_JSON = re.compile(r"Invalid JSON: (.*?) \[type=")


def ending_of(error: MCPError, wire: Wire | None) -> CallEnding:
    """Tell what became of a request that ended with this error; `wire` is what it went over, if HTTP."""
    if isinstance(error.data, Unreadable | TooLarge):
        return error.data
    code, message = error.code, error.message
    if wire is not None:
        if wire.too_large:
            return TooLarge()
        if wire.status and (code, message) in _OF_A_STATUS:
            return Failed(f"its server answered {wire.status}")
        if code == INVALID_REQUEST and message.startswith("Redirect to "):
            return Failed(f"its server answered with a redirect: {message}")
        if any(code == own and message.startswith(text) for own, text in _OF_THE_SDK):
            return Unreadable(_reason(message), wire.head.decode("utf-8", "replace"))
    if code == CONNECTION_CLOSED and (wire is not None or message == SDK_CLOSED):
        return Broken(message)
    return Refused(code, message)


def _reason(message: str) -> str:
    if not message.startswith("Failed to parse "):
        return message
    found = _NOT_JSON.search(message)
    return found[1] if found else "it is no message of JSON-RPC 2.0"


def first_flaw(error: ValidationError) -> str:
    """Say in one phrase where an answer is not one of the protocol."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")


def said(ending: CallEnding) -> str:
    """Say in one phrase what a server did in place of an answer."""
    match ending:
        case Refused(code=code, message=message):
            return f"{message} (error {code})"
        case Unreadable(reason=reason) | Failed(reason=reason) | Broken(reason=reason):
            return reason
        case endings.NotStarted(reason=reason):
            return reason
        case TooLarge():
            return "its answer is too large"
        case endings.OutOfTime() | endings.Answered():
            return "it did not answer in time"
