"""What became of a tool call, in the one shape that the model sees."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field, JsonValue, PlainSerializer

from surefoot.strict_json import encode_json
from surefoot.wire import WireModel

ErrorCode = Literal[
    "TOOL_TIMEOUT",
    "TOOL_CRASHED",
    "INVALID_OUTPUT",
    "OUTPUT_TOO_LARGE",
    "INPUT_TOO_LARGE",
    "TOOL_INVOCATION_TIMEOUT",
    "TOOL_LOST",
    "TOOL_INTERRUPTED",
    "TOOL_CANCELLED",
    "TOOL_DENIED",
    "LIMIT_REACHED",
    "TOOL_NOT_FOUND",
    "INVALID_PARAMS",
]

ERROR_CODES: frozenset[str] = frozenset(get_args(ErrorCode))

Acted = Literal["no", "unknown"]
"""Whether a failed call may have taken effect."""

NEVER_ACTED: frozenset[ErrorCode] = frozenset(
    {
        "TOOL_NOT_FOUND",
        "INVALID_PARAMS",
        "INPUT_TOO_LARGE",
        "TOOL_DENIED",
        "LIMIT_REACHED",
        "TOOL_INVOCATION_TIMEOUT",
    }
)

REPORTABLE: frozenset[ErrorCode] = frozenset(get_args(ErrorCode)) - {
    "TOOL_DENIED",
    "LIMIT_REACHED",
    "TOOL_INVOCATION_TIMEOUT",
}
"""What an executor may say of a call that it was given; the rest only a run can know."""


def _as_it_is(value: JsonValue) -> Any:  # noqa: ANN401  what pydantic then serializes by itself
    return value


# Else pydantic asks Python code for the type of each single value: a tenth of a workflow task's time for
# 5,000 of them.
_Answer = Annotated[JsonValue, PlainSerializer(_as_it_is)]


class ToolSuccess(WireModel):
    """The tool gave a valid answer; an error of the operation itself is inside `result`."""

    tool: str
    tool_success: Literal[True] = True
    result: _Answer


class ToolFailure(WireModel):
    """There is no valid answer from the tool; always all six keys (seeds/000)."""

    tool_success: Literal[False] = False
    error: str
    error_code: ErrorCode
    exit_code: int | None
    stdout: str
    stderr: str


Outcome = Annotated[ToolSuccess | ToolFailure, Field(discriminator="tool_success")]


def envelope(outcome: ToolSuccess | ToolFailure) -> str:
    """Render an outcome as the exact text that the model reads in a `role: tool` message."""
    return encode_json(outcome.model_dump(mode="json"))
