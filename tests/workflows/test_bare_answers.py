"""Answers that no SDK of ours would give, said to the real server by an executor without any SDK."""

import secrets

import pytest
from temporalio.api.common.v1 import Payload, Payloads
from temporalio.api.failure.v1 import ApplicationFailureInfo, Failure
from temporalio.client import Client
from temporalio.service import RPCError

from surefoot.outcome import ToolFailure
from tests.workflows.agents import Finished, Replies, calls, finish, never, says, serving, start, tool
from tests.workflows.bare_executor import BareExecutor, Say, Task

pytestmark = pytest.mark.slow

JSON = b"json/plain"
UNREADABLE = "Tool 'x' returned an answer that cannot be decoded: "
TOO_MUCH = "Tool 'x' sent more than fits an answer, a failure or a heartbeat; ask for less at once"


def payload(data: bytes, encoding: bytes | None = JSON) -> Payload:
    return Payload(metadata={} if encoding is None else {"encoding": encoding}, data=data)


def text_of(size_bytes: int) -> bytes:
    return b'{"stdout": "' + b"x" * size_bytes + b'"}'


def gives(data: bytes, encoding: bytes | None = JSON) -> Say:
    return lambda executor, task: executor.complete(task, Payloads(payloads=[payload(data, encoding)]))


def gives_nothing() -> Say:
    return lambda executor, task: executor.complete(task, None)


def fails(*details: Payload, error: str = "odd") -> Say:
    info = ApplicationFailureInfo(type="TOOL_CRASHED", details=Payloads(payloads=details))
    failure = Failure(message=error, application_failure_info=info)
    return lambda executor, task: executor.fail(task, failure)


def beats(*details: Payload) -> Say:
    return lambda executor, task: executor.beat(task, Payloads(payloads=details))


async def run_with(client: Client, say: Say, **manifest: object) -> Finished:
    """Run an agent whose one call is taken by an executor that does this to it, and nothing more."""
    queue = f"bare-{secrets.token_hex(4)}"
    remote = tool("x", never, executorQueue=queue, **manifest)
    async with serving(client, Replies([calls(("x", {})), says("Done.")]), [remote]) as own:
        run = await start(client, own)
        executor = BareExecutor(client, queue)
        await say(executor, await executor.take())
        return await finish(run)


@pytest.mark.parametrize(
    ("say", "code", "error"),
    [
        pytest.param(
            gives_nothing(), "INVALID_OUTPUT", f"{UNREADABLE}there is no value in it", id="no value at all"
        ),
        pytest.param(gives(b""), "INVALID_OUTPUT", f"{UNREADABLE}empty", id="an empty value"),
        pytest.param(
            gives(b"1", None),
            "INVALID_OUTPUT",
            f"{UNREADABLE}its encoding is none, and not json/plain",
            id="no encoding",
        ),
        pytest.param(
            gives(b"", b"binary/null"),
            "INVALID_OUTPUT",
            f"{UNREADABLE}its encoding is binary/null, and not json/plain",
            id="nothing, as most SDKs send it",
        ),
        pytest.param(
            gives(b"\x00\xff", b"binary/plain"),
            "INVALID_OUTPUT",
            f"{UNREADABLE}its encoding is binary/plain, and not json/plain",
            id="bytes",
        ),
        pytest.param(
            gives(b"{}", b"json/protobuf"),
            "INVALID_OUTPUT",
            f"{UNREADABLE}its encoding is json/protobuf, and not json/plain",
            id="a protobuf message as JSON",
        ),
        pytest.param(
            gives(b"\x08\x01", b"binary/protobuf"),
            "INVALID_OUTPUT",
            f"{UNREADABLE}its encoding is binary/protobuf, and not json/plain",
            id="a protobuf message",
        ),
        pytest.param(
            gives(b'{"a": [1, 2'),
            "INVALID_OUTPUT",
            f"{UNREADABLE}Expecting ',' delimiter at character 11",
            id="a truncated value",
        ),
        pytest.param(gives(b"\xff"), "INVALID_OUTPUT", f"{UNREADABLE}not UTF-8 at byte 0", id="no UTF-8"),
        pytest.param(
            gives(text_of(3_000_000)),
            "OUTPUT_TOO_LARGE",
            "Tool 'x' returned an answer above the limit of 1MB; ask for less at once",
            id="an answer that the server refuses",
        ),
        pytest.param(
            fails(payload(text_of(3_000_000))), "OUTPUT_TOO_LARGE", TOO_MUCH, id="a failure that it refuses"
        ),
        pytest.param(
            beats(payload(text_of(3_000_000))), "OUTPUT_TOO_LARGE", TOO_MUCH, id="a heartbeat that it refuses"
        ),
        pytest.param(fails(payload(b"1", None)), "TOOL_CRASHED", "odd", id="details without an encoding"),
        pytest.param(
            fails(payload(b"[" * 5_000 + b"]" * 5_000)),
            "TOOL_CRASHED",
            "odd",
            id="details nested without end",
        ),
        pytest.param(
            fails(payload(b'{"exit_code": ' + b"9" * 5_000 + b"}")),
            "TOOL_CRASHED",
            "odd",
            id="an exit code of 5,000 digits",
        ),
        pytest.param(
            fails(payload(b"{}"), payload(b"\x00", b"binary/mystery")),
            "TOOL_CRASHED",
            "odd",
            id="more details, in an unknown encoding",
        ),
    ],
)
async def test_whatever_an_executor_sends_the_run_goes_on(
    client: Client, say: Say, code: str, error: str
) -> None:
    finished = await run_with(client, say)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error, finished.result.answer) == (code, error, "Done.")


async def test_an_answer_that_does_not_even_reach_the_server_ends_with_the_time_of_the_call(
    client: Client,
) -> None:
    """Above 4 MB the server takes no message, so that all an executor could say is lost with it."""

    async def shout(executor: BareExecutor, task: Task) -> None:
        for size_bytes in (3, 5):
            await executor.beat(task, Payloads(payloads=[payload(text_of(size_bytes))]))
        with pytest.raises(RPCError, match="larger than max"):
            await executor.complete(task, Payloads(payloads=[payload(text_of(6_000_000))]))

    finished = await run_with(client, shout, timeoutSeconds=0.5, heartbeatSeconds=None)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error, outcome.stdout) == (
        "TOOL_TIMEOUT",
        "Tool 'x' timed out after 0.5s",
        "xxxxx",
    )


@pytest.mark.parametrize(
    "details",
    [
        pytest.param(payload(b"\x00", b"binary/mystery"), id="an unknown encoding"),
        pytest.param(payload(b"{"), id="half a JSON value"),
        pytest.param(payload(b"1", None), id="no encoding"),
        pytest.param(payload(b'"a string"'), id="no capture"),
    ],
)
async def test_a_lost_executor_whose_heartbeats_cannot_be_read_is_lost_all_the_same(
    client: Client, details: Payload
) -> None:
    finished = await run_with(client, beats(details), heartbeatSeconds=1)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.stdout, finished.result.answer) == ("TOOL_LOST", "", "Done.")
