"""How a call of an MCP server's tool can end, before it becomes an outcome."""

from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class Answered:
    """The server gave a result, in the protocol's form."""

    result: dict[str, JsonValue]


@dataclass(frozen=True)
class Refused:
    """The server gave an error of the protocol (JSON-RPC) in place of a result."""

    code: int
    message: str


@dataclass(frozen=True)
class Unreadable:
    """The server gave something that is no answer of the protocol."""

    reason: str
    text: str = ""
    """What it gave, as far as it is known."""


@dataclass(frozen=True)
class TooLarge:
    """The answer is larger than what is read of one; `size_bytes` is None where only that is known."""

    size_bytes: int | None = None


@dataclass(frozen=True)
class Failed:
    """The server said, in terms of its transport, that it did not serve the call: an HTTP status."""

    reason: str


@dataclass(frozen=True)
class Broken:
    """The connection ended before the answer came."""

    reason: str


@dataclass(frozen=True)
class NotStarted:
    """There was no session in which the call could be made; exit codes as a shell gives them, 126 or 127."""

    exit_code: int
    reason: str


@dataclass(frozen=True)
class OutOfTime:
    """The call's time was over before its answer came."""


CallEnding = Answered | Refused | Unreadable | TooLarge | Failed | Broken | NotStarted | OutOfTime


class CannotStartError(Exception):
    """Says why there is no session with a server."""

    def __init__(self, reason: str, *, exit_code: int = 126) -> None:
        self.ending = NotStarted(exit_code, reason)
        super().__init__(reason)
