import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError
from temporalio.testing import WorkflowEnvironment

from activities.interface import EXCERPT_METADATA
from surefoot.events import ToolExecutionCompleted, ToolExecutionStarted
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.workflows.agents import answer, calls, never, run_agent, says, tool

NOT_REGISTERED = "Activity function x for workflow w is not registered on this worker, available: y"
CAPTURE = {"exit_code": 139, "stdout": "out", "stderr": "err"}


def payload(data: bytes, encoding: bytes = b"json/plain") -> RawValue:
    return RawValue(Payload(metadata={"encoding": encoding}, data=data))


def gives(value: Any) -> Callable[[RawValue], Awaitable[Any]]:  # noqa: ANN401  anything an executor may give
    async def act(_: RawValue) -> Any:  # noqa: ANN401
        return value

    return act


def fails(error: Exception) -> Callable[[RawValue], Awaitable[Any]]:
    async def act(_: RawValue) -> Any:  # noqa: ANN401
        raise error

    return act


def failure(code: str, error: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "tool_success": False,
        "error": error,
        "error_code": code,
        "exit_code": None,
        "stdout": "",
        "stderr": "",
        **more,
    }


OUT_AND_ERR = {"stdout": "out", "stderr": "err"}


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        pytest.param(
            fails(ApplicationError("Tool 'x' crashed with exit code 139", CAPTURE, type="TOOL_CRASHED")),
            failure("TOOL_CRASHED", "Tool 'x' crashed with exit code 139", exit_code=139, **OUT_AND_ERR),
            id="an executor reports a code of the contract",
        ),
        pytest.param(
            fails(ApplicationError("not on a Friday", CAPTURE, type="TOOL_DENIED")),
            failure(
                "TOOL_CRASHED",
                "Tool 'x' crashed: it may or may not have taken effect; "
                "its executor claimed TOOL_DENIED: not on a Friday",
                exit_code=139,
                **OUT_AND_ERR,
            ),
            id="an executor claims what only a run can know",
        ),
        pytest.param(
            fails(ApplicationError("gone", CAPTURE, type="WorkerShutdown")),
            failure(
                "TOOL_INTERRUPTED",
                "Tool 'x' was interrupted: its worker was shut down before it finished; "
                "it may or may not have taken effect",
                **OUT_AND_ERR,
            ),
            id="its worker was shut down",
        ),
        pytest.param(
            fails(ApplicationError("too big", type="PayloadsTooLarge")),
            failure(
                "OUTPUT_TOO_LARGE",
                "Tool 'x' sent more than fits an answer, a failure or a heartbeat; ask for less at once",
            ),
            id="Python's SDK refuses to send the answer",
        ),
        pytest.param(
            fails(ApplicationError("too big", type="PayloadSizeError")),
            failure(
                "OUTPUT_TOO_LARGE",
                "Tool 'x' sent more than fits an answer, a failure or a heartbeat; ask for less at once",
            ),
            id="an older SDK of Python refuses to send the answer",
        ),
        pytest.param(
            fails(ApplicationError("too big", type="payloadSizeError")),
            failure(
                "OUTPUT_TOO_LARGE",
                "Tool 'x' sent more than fits an answer, a failure or a heartbeat; ask for less at once",
            ),
            id="Go's SDK refuses to send the answer",
        ),
        pytest.param(
            fails(ApplicationError(NOT_REGISTERED, type="NotFoundError")),
            failure("TOOL_NOT_FOUND", "Tool 'x' is not known to the executor that was asked for it"),
            id="the executor lacks the tool",
        ),
        pytest.param(
            fails(ApplicationError("no such customer", CAPTURE, type="NotFoundError")),
            failure("TOOL_CRASHED", "Tool 'x' crashed: NotFoundError: no such customer", **OUT_AND_ERR),
            id="an executor raises an error of its own with the name of the SDK's",
        ),
        pytest.param(
            fails(KeyError("a")),
            failure("TOOL_CRASHED", "Tool 'x' crashed: KeyError: 'a'"),
            id="an executor raises past the contract",
        ),
        pytest.param(
            fails(ApplicationError("odd", "no capture", type="SOMETHING")),
            failure("TOOL_CRASHED", "Tool 'x' crashed: SOMETHING: odd"),
            id="details that are no capture",
        ),
        pytest.param(
            fails(ApplicationError("odd", {**CAPTURE, "stdout": 7}, type="TOOL_CRASHED")),
            failure("TOOL_CRASHED", "odd"),
            id="a capture with a number for its stdout",
        ),
        pytest.param(
            fails(ApplicationError("odd", payload(b"\x00", b"binary/mystery"), type="TOOL_CRASHED")),
            failure("TOOL_CRASHED", "odd"),
            id="details in an unknown encoding",
        ),
        pytest.param(
            fails(ApplicationError("odd", payload(b"{"), type="TOOL_CRASHED")),
            failure("TOOL_CRASHED", "odd"),
            id="details that are half a JSON value",
        ),
        pytest.param(
            gives(payload(b"{")),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned an answer that cannot be decoded: "
                "Expecting property name enclosed in double quotes at character 1",
                stdout="{",
            ),
            id="half a JSON value",
        ),
        pytest.param(
            gives(payload(b"\x00\xff", b"binary/mystery")),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned an answer that cannot be decoded: "
                "its encoding is binary/mystery, and not json/plain",
                stdout="\x00\ufffd",
            ),
            id="an unknown encoding",
        ),
        pytest.param(
            gives(payload(b'{"n": 1e999}')),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned an answer that cannot be decoded: a number that is too large",
                stdout='{"n": 1e999}',
            ),
            id="a number that overflows",
        ),
        pytest.param(
            gives({"ok": "yes"}),
            failure(
                "INVALID_OUTPUT",
                "Tool 'x' returned JSON that does not match its output schema: "
                'ok: "yes" is not of type "boolean"',
                stdout='{"ok": "yes"}',
            ),
            id="not what its outputSchema says",
        ),
    ],
)
async def test_every_ending_of_a_tool_activity_becomes_one_outcome(
    time_skipping: WorkflowEnvironment,
    act: Callable[[RawValue], Awaitable[Any]],
    expected: dict[str, Any],
) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}

    finished = await run_agent(
        time_skipping.client, [calls(("x", {})), says("Done.")], [tool("x", act, outputSchema=schema)]
    )

    assert [outcome.model_dump() for outcome in finished.outcomes] == [expected]


async def test_an_answer_above_the_cap_is_a_failure_that_tells_its_size(
    time_skipping: WorkflowEnvironment,
) -> None:
    large = gives("x" * (1024 * 1024))

    finished = await run_agent(time_skipping.client, [calls(("x", {})), says("Done.")], [tool("x", large)])

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error) == (
        "OUTPUT_TOO_LARGE",
        "Tool 'x' returned an answer of 1,048,578 bytes above the limit of 1MB; ask for less at once",
    )


async def test_what_stands_for_a_kept_answer_is_not_held_to_the_schema_of_the_answer(
    time_skipping: WorkflowEnvironment,
) -> None:
    metadata = {"encoding": b"json/plain", EXCERPT_METADATA: b"true"}
    shown = RawValue(Payload(metadata=metadata, data=b'{"truncated": true}'))

    finished = await run_agent(
        time_skipping.client,
        [calls(("x", {})), says("Done.")],
        [tool("x", gives(shown), outputSchema={"required": ["rows"]})],
    )

    assert finished.outcomes == [ToolSuccess(tool="x", result={"truncated": True})]


async def test_an_executor_that_beats_and_then_hangs_is_lost_with_what_it_had_said(client: Client) -> None:
    async def beat_and_hang(_: RawValue) -> None:
        activity.heartbeat({"stdout": "half of it", "stderr": "", "started_at": "2026-01-01T00:00:00+00:00"})
        await asyncio.Event().wait()

    finished = await run_agent(
        client, [calls(("x", {})), says("Done.")], [tool("x", beat_and_hang, heartbeatSeconds=1)]
    )

    assert [outcome.model_dump() for outcome in finished.outcomes] == [
        failure(
            "TOOL_LOST",
            "Tool 'x' was lost: its worker stopped answering; it may or may not have taken effect",
            stdout="half of it",
        )
    ]


@pytest.mark.slow
async def test_the_servers_own_limit_ends_a_call_whose_executor_forgets_its_deadline(client: Client) -> None:
    finished = await run_agent(
        client,
        [calls(("x", {})), says("Done.")],
        [tool("x", never, timeoutSeconds=0.5, heartbeatSeconds=None)],
    )

    assert [outcome.model_dump() for outcome in finished.outcomes] == [
        failure("TOOL_TIMEOUT", "Tool 'x' timed out after 0.5s")
    ]


async def test_an_answer_in_another_language_needs_nothing_but_json(
    time_skipping: WorkflowEnvironment,
) -> None:
    finished = await run_agent(time_skipping.client, [calls(("x", {})), says("Done.")], [tool("x", answer)])

    assert finished.outcomes == [ToolSuccess(tool="x", result={"ok": True})]
    assert [type(event) for event in finished.events[4:6]] == [ToolExecutionStarted, ToolExecutionCompleted]


@pytest.mark.parametrize(
    ("said", "started_at"),
    [
        pytest.param(
            "2026-01-02T03:04:05+01:00", datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC), id="with a zone"
        ),
        pytest.param("2026-01-02T03:04:05", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="without a zone"),
        pytest.param("yesterday", None, id="no time at all"),
    ],
)
async def test_the_ledger_keeps_when_an_executor_says_that_it_started(
    time_skipping: WorkflowEnvironment, said: str, started_at: datetime | None
) -> None:
    act = fails(ApplicationError("odd", {**CAPTURE, "started_at": said}, type="TOOL_CRASHED"))

    finished = await run_agent(time_skipping.client, [calls(("x", {})), says("Done.")], [tool("x", act)])

    started = [event for event in finished.events if isinstance(event, ToolExecutionStarted)]
    assert [event.started_at for event in started] == [started_at]
