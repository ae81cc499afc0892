from datetime import timedelta

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.common import RawValue
from temporalio.exceptions import (
    ApplicationError,
    ChildWorkflowError,
    ServerError,
    TerminatedError,
    TimeoutError,  # noqa: A004  Temporal's own
    TimeoutType,
)

from surefoot.admission import Admitted
from surefoot.conversation import ToolCall
from surefoot.definition import ToolDefinition
from surefoot.run import RunResult
from surefoot.spent import NOTHING_USED, Used
from surefoot.usage import Usage
from workflows.child_endings import answered, failed, not_begun

CALL = Admitted(
    ToolCall(id="c", tool="x", params={}),
    ToolDefinition.model_validate(
        {"name": "x", "description": "d", "inputSchema": {}, "agent": {"key": "k"}}
    ),
    {},
    timedelta(0),
)
USED = Used(tool_calls=3, usage=Usage(requests=2))
LOST = "Tool 'x' was lost: its run was {}; it may or may not have taken effect"


def payload(data: bytes, encoding: bytes = b"json/plain") -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


@pytest.mark.parametrize(
    ("raw", "code", "error"),
    [
        pytest.param(
            payload(b"{"),
            "INVALID_OUTPUT",
            "Tool 'x' returned an answer that cannot be decoded: "
            "Expecting property name enclosed in double quotes at character 1",
            id="half a JSON object",
        ),
        pytest.param(
            payload(b'{"status": "well"}'),
            "INVALID_OUTPUT",
            "Tool 'x' returned an answer that cannot be decoded: it is no result of a run: "
            "status: Input should be 'completed' or 'limit_reached'",
            id="JSON, but no result of a run",
        ),
        pytest.param(
            payload(b"\0", b"binary/plain"),
            "INVALID_OUTPUT",
            "Tool 'x' returned an answer that cannot be decoded: "
            "its encoding is binary/plain, and not json/plain",
            id="no JSON",
        ),
        pytest.param(
            None,
            "INVALID_OUTPUT",
            "Tool 'x' returned an answer that cannot be decoded: there is no value in it",
            id="nothing",
        ),
        pytest.param(
            payload(b"[" + b"[]," * 60_000 + b"[]]"),
            "OUTPUT_TOO_LARGE",
            "Tool 'x' returned an answer of more than 50,000 values; ask for less at once",
            id="too many values to parse in a workflow task",
        ),
    ],
)
def test_what_is_no_result_of_a_run_is_a_failure(raw: RawValue | None, code: str, error: str) -> None:
    ending = answered(CALL, raw, run="r/1-1")
    told = ending.outcome.model_dump()

    assert (told["error_code"], told["error"], ending.used) == (code, error, NOTHING_USED)


def test_a_result_tells_what_the_run_used() -> None:
    result = RunResult(
        status="completed",
        answer="a",
        turns=1,
        tool_executions=3,
        failed_tool_executions=0,
        usage=USED.usage,
        tool_calls=3,
    )
    assert answered(CALL, payload(result.model_dump_json().encode()), run="r/1-1").used == USED


@pytest.mark.parametrize(
    ("cause", "code", "error", "used"),
    [
        pytest.param(
            ApplicationError("no key", {"tool_calls": 3, "usage": {"requests": 2}}, type="RUN_FAILED"),
            "TOOL_CRASHED",
            "Tool 'x' crashed: its run failed: no key",
            USED,
            id="failed, and said what it used",
        ),
        pytest.param(
            ApplicationError("no key", "garbage", type="RUN_FAILED"),
            "TOOL_CRASHED",
            "Tool 'x' crashed: its run failed: no key",
            None,
            id="failed, and said something else",
        ),
        pytest.param(TerminatedError("t"), "TOOL_LOST", LOST.format("terminated"), None, id="terminated"),
        pytest.param(
            TimeoutError("t", type=TimeoutType.START_TO_CLOSE, last_heartbeat_details=[]),
            "TOOL_LOST",
            LOST.format("timed out by the server"),
            None,
            id="timed out",
        ),
        pytest.param(
            ServerError("too large"),
            "TOOL_CRASHED",
            "Tool 'x' crashed: its run failed: too large",
            None,
            id="the server's own words",
        ),
    ],
)
def test_a_run_without_a_result_is_a_failure(
    cause: Exception, code: str, error: str, used: Used | None
) -> None:
    raised = ChildWorkflowError(
        "Child Workflow execution failed",
        namespace="n",
        workflow_id="r/1-1",
        run_id="1",
        workflow_type="surefoot",
        initiated_event_id=1,
        started_event_id=2,
        retry_state=None,
    )
    raised.__cause__ = cause
    ending = failed(CALL, raised)
    told = ending.outcome.model_dump()

    assert (told["error_code"], told["error"], ending.used) == (code, error, used)


def test_what_the_server_has_against_a_run_is_told() -> None:
    failure = not_begun(CALL, RuntimeError("Unknown child start fail cause: 2"), run="r/1-1")
    assert failure.error == "Tool 'x' could not be started: Unknown child start fail cause: 2"
