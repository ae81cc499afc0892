"""What a function tool may know of the call that it serves."""

from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CurrentCall:
    """One call of a tool."""

    id: str
    """Unlike any other call's, and the same if it is ever tried again."""
    directory: Path
    """The run's working directory; a function in the worker's process has another one of its own."""
    timeout_seconds: float
    artifacts: Path | None = None
    """Where files may be left that an answer names in a field that ends in `_artifact`."""


CURRENT_CALL: ContextVar[CurrentCall] = ContextVar("surefoot_current_call")


def current_call() -> CurrentCall:
    """Give the call that the running function serves.

    Raises:
        LookupError: it was not called as a tool.
    """
    return CURRENT_CALL.get()
