from datetime import UTC, datetime
from typing import Any, cast

import pytest
from pydantic import JsonValue

from surefoot.events import (
    ExecutionError,
    ToolExecutionCompleted,
    ToolExecutionFailed,
)
from surefoot.failures import acted, crashed
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.session import SessionEvent, ToolFailed, ToolInvoked
from surefoot.session_events import session_events
from surefoot.tool_result import ToolResult

TIME = datetime(2025, 1, 1, tzinfo=UTC)
CALL: dict[str, Any] = {"time": TIME, "tool": "x", "tool_exec_id": "1-1", "call_id": "c1"}
PARAMS: JsonValue = {"n": [1]}


def ended(outcome: ToolSuccess | ToolFailure) -> ToolExecutionCompleted | ToolExecutionFailed:
    if isinstance(outcome, ToolSuccess):
        return ToolExecutionCompleted(**CALL, outcome=outcome)
    error = ExecutionError(message=outcome.error, code=outcome.error_code)
    return ToolExecutionFailed(**CALL, outcome=outcome, error=error, acted=acted(outcome))


def answered(result: JsonValue) -> ToolSuccess:
    return ToolSuccess(tool="x", result=result)


def failing(result: ToolResult[Any], *, tool_success: bool) -> tuple[SessionEvent, ...]:
    return (
        ToolInvoked(**CALL, params=PARAMS, result=result),
        ToolFailed(
            **CALL,
            params=PARAMS,
            error=result.message,
            error_code=result.error_code,
            tool_success=tool_success,
        ),
    )


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        pytest.param(
            answered({"stdout": "a", "exit_code": 1}),
            (ToolInvoked(**CALL, params=PARAMS, result=ToolResult(True, {"stdout": "a", "exit_code": 1})),),
            id="an answer without a word on its success",
        ),
        pytest.param(
            answered(None),
            (ToolInvoked(**CALL, params=PARAMS, result=ToolResult(True, None)),),
            id="an answer that is null",
        ),
        pytest.param(
            answered({"success": True, "error": None, "lines": ["Tokaido"]}),
            (ToolInvoked(**CALL, params=PARAMS, result=ToolResult(True, {"lines": ["Tokaido"]})),),
            id="a function's success",
        ),
        pytest.param(
            answered({"success": False, "error": "no such", "error_code": "not_found", "lines": []}),
            failing(ToolResult(False, None, "no such", "not_found"), tool_success=True),
            id="a function's failure",
        ),
        pytest.param(
            answered({"stdout": "a", "error": "timed out after 2s"}),
            failing(ToolResult(False, {"stdout": "a"}, "timed out after 2s"), tool_success=True),
            id="an operation that failed",
        ),
        pytest.param(
            crashed("x", 139),
            failing(
                ToolResult(False, None, "Tool 'x' crashed with exit code 139", "TOOL_CRASHED"),
                tool_success=False,
            ),
            id="no valid answer",
        ),
    ],
)
def test_a_call_is_told_as_one_invocation_and_a_failure_beside_it(
    outcome: ToolSuccess | ToolFailure, told: tuple[SessionEvent, ...]
) -> None:
    assert session_events(ended(outcome), {"c1": PARAMS}) == told


def test_who_changes_what_an_event_tells_changes_nothing_of_the_run() -> None:
    outcome = answered({"lines": ["Tokaido"]})
    params: dict[str, dict[str, JsonValue]] = {"c1": {"n": [1]}}

    told = cast("tuple[Any, ...]", session_events(ended(outcome), params))
    told[0].params["n"].append(2)
    told[0].result.value["lines"].clear()

    assert (outcome, params) == (answered({"lines": ["Tokaido"]}), {"c1": {"n": [1]}})
