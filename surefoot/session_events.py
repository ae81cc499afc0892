"""The session's events of a ledger's."""

import json
from collections.abc import Mapping
from typing import Any, TypedDict

from pydantic import JsonValue

from surefoot.events import ToolExecutionCompleted, ToolExecutionFailed
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.session import SessionEvent, ToolFailed, ToolInvoked
from surefoot.strict_json import encode_json
from surefoot.tool_result import ToolResult


def session_events(
    ended: ToolExecutionCompleted | ToolExecutionFailed, params: Mapping[str, JsonValue]
) -> tuple[SessionEvent, ...]:
    """Give what a session tells of a call that has ended; `params` are those of its turn, by call id.

    The values are copies: whoever changes one changes nothing of the run.
    """
    result = result_of(ended.outcome)
    call = _Called(
        time=ended.time,
        tool=ended.tool,
        tool_exec_id=ended.tool_exec_id,
        call_id=ended.call_id,
        params=_copy(params.get(ended.call_id)),
    )
    invoked = ToolInvoked(**call, result=result)
    if result.success:
        return (invoked,)
    tool_success = ended.outcome.tool_success
    failed = ToolFailed(**call, error=result.message, error_code=result.error_code, tool_success=tool_success)
    return invoked, failed


def result_of(outcome: ToolSuccess | ToolFailure) -> ToolResult[Any]:
    """Give an outcome as a result; an answer that says `success: false` or `error` is no success."""
    match outcome:
        case ToolFailure(error=error, error_code=error_code):
            return ToolResult(success=False, message=error, error_code=error_code)
        case ToolSuccess(result=dict() as answer) if _says_whether(answer):
            return ToolResult.of(_copy(answer))
        case ToolSuccess(result=answer):
            return ToolResult(success=True, value=_copy(answer))


class _Called(TypedDict):
    time: Any
    tool: str
    tool_exec_id: str
    call_id: str
    params: Any


def _says_whether(answer: Mapping[str, JsonValue]) -> bool:
    return isinstance(answer.get("success"), bool) or bool(answer.get("error"))


def _copy(value: JsonValue) -> Any:  # noqa: ANN401  JSON, for those who know what is in it
    return json.loads(encode_json(value))
