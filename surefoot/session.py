"""What happens to a run's tool calls, as reducers are told of it (seeds/003)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from surefoot.tool_result import ToolResult


@dataclass(frozen=True)
class _Call:
    time: datetime
    """When the call ended."""
    tool: str
    tool_exec_id: str
    """`<turn>-<n>`, as the ledger names it."""
    call_id: str
    params: Any
    """What the model sent, JSON; text where that could not be parsed."""


@dataclass(frozen=True)
class ToolInvoked(_Call):
    """A tool call has ended, whatever it came to: one for every call of the run.

    `result.value` is JSON, and None where there is none: always if there is no valid answer from the tool.
    """

    result: ToolResult[Any]


@dataclass(frozen=True)
class ToolFailed(_Call):
    """Stands beside the ToolInvoked of each call whose result is no success."""

    error: str
    error_code: str | None
    """A code of docs/failures.md where there is no valid answer, else the tool's own, if it gave one."""
    tool_success: bool
    """Whether the tool itself worked, and only its operation failed."""


SessionEvent = ToolInvoked | ToolFailed
