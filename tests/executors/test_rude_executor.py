import asyncio
import base64
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.conftest import RealServer
from tests.executors.go_executor import ExecutorProcess, remote
from tests.workers.real_workers import until_running
from tests.workflows.agents import Finished, Replies, calls, run_agent, says, serving, start

pytestmark = pytest.mark.long

OK_IS_BOOLEAN = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
CAPTURE: dict[str, JsonValue] = {"exit_code": 3, "stdout": "out", "stderr": "err"}
JSON: dict[str, JsonValue] = {"encoding": "json/plain"}
LOST = "was lost: its worker stopped answering; it may or may not have taken effect"
UNDECODABLE = "returned an answer that cannot be decoded: "
SENT_TOO_MUCH = "sent more than fits an answer, a failure or a heartbeat; ask for less at once"


@pytest.fixture(scope="module")
def executor(
    rude_program: Path, server: RealServer, tmp_path_factory: pytest.TempPathFactory
) -> Generator[ExecutorProcess]:
    with ExecutorProcess(rude_program, server, tmp_path_factory.mktemp("rude")) as process:
        yield process


def says_it_failed(kind: str | None, *details: JsonValue, message: str = "odd") -> dict[str, JsonValue]:
    """Params for `fails`: an application failure of this type with these details."""
    encoded: list[JsonValue] = [
        {
            "metadata": {"encoding": base64.b64encode(b"json/plain").decode()},
            "data": base64.b64encode(json.dumps(detail).encode()).decode(),
        }
        for detail in details
    ]
    return {
        "failure": {
            "message": message,
            "applicationFailureInfo": {"type": kind, "details": {"payloads": encoded}},
        }
    }


async def call(
    client: Client, executor: ExecutorProcess, tool: str, params: dict[str, JsonValue], **manifest: object
) -> Finished:
    replies = [calls((tool, params)), says("Done.")]
    async with asyncio.timeout(30):
        return await run_agent(client, replies, [remote(tool, queue=executor.queue, **manifest)])


@pytest.mark.parametrize(
    ("tool", "params", "code", "error", "stdout"),
    [
        pytest.param(
            "answers",
            {**JSON, "data": '{"ok": "yes"}'},
            "INVALID_OUTPUT",
            'returned JSON that does not match its output schema: ok: "yes" is not of type "boolean"',
            '{"ok": "yes"}',
            id="an answer that is not what its outputSchema says",
        ),
        pytest.param(
            "answers",
            {**JSON, "data": "half {"},
            "INVALID_OUTPUT",
            f"{UNDECODABLE}Expecting value at character 0",
            "half {",
            id="an answer that calls itself JSON and is none",
        ),
        pytest.param(
            "answers",
            JSON,
            "INVALID_OUTPUT",
            f"{UNDECODABLE}empty",
            "",
            id="an answer of no bytes at all",
        ),
        pytest.param(
            "answers",
            {"encoding": "binary/mystery", "data": "{}"},
            "INVALID_OUTPUT",
            f"{UNDECODABLE}its encoding is binary/mystery, and not json/plain",
            "{}",
            id="an answer in an unknown encoding",
        ),
        pytest.param(
            "answers",
            {"data": "{}"},
            "INVALID_OUTPUT",
            f"{UNDECODABLE}its encoding is none, and not json/plain",
            "{}",
            id="an answer without an encoding",
        ),
        pytest.param(
            "answers-nothing",
            {},
            "INVALID_OUTPUT",
            f"{UNDECODABLE}there is no value in it",
            "",
            id="an activity without a result",
        ),
        pytest.param(
            "answers-nil",
            {},
            "INVALID_OUTPUT",
            f"{UNDECODABLE}there is no value in it",
            "",
            id="a result that is nil",
        ),
        pytest.param(
            "panics",
            {},
            "TOOL_CRASHED",
            "crashed: PanicError: at the disco",
            "",
            id="an executor that panics",
        ),
        pytest.param(
            "is-cancelled",
            {},
            "TOOL_CRASHED",
            "crashed: wrapError: unexpected activity cancel error: canceled",
            "",
            id="a call that says it was cancelled, and was not",
        ),
        pytest.param(
            "fails",
            says_it_failed("TOOL_EXPLODED", CAPTURE),
            "TOOL_CRASHED",
            "crashed: TOOL_EXPLODED: odd",
            "out",
            id="a failure of a type that is no error code",
        ),
        pytest.param(
            "fails",
            says_it_failed("", CAPTURE),
            "TOOL_CRASHED",
            "crashed: odd",
            "out",
            id="a failure without a type",
        ),
        pytest.param(
            "fails",
            says_it_failed("tool_timeout"),
            "TOOL_CRASHED",
            "crashed: tool_timeout: odd",
            "",
            id="an error code in small letters",
        ),
        pytest.param(
            "fails",
            says_it_failed("TOOL_DENIED"),
            "TOOL_CRASHED",
            "crashed: it may or may not have taken effect; its executor claimed TOOL_DENIED: odd",
            "",
            id="a code that only a run can know",
        ),
    ],
)
async def test_what_breaks_the_rules_is_told_to_the_model(
    client: Client,
    executor: ExecutorProcess,
    tool: str,
    params: dict[str, JsonValue],
    code: str,
    error: str,
    stdout: str,
) -> None:
    finished = await call(client, executor, tool, params, outputSchema=OK_IS_BOOLEAN)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error, outcome.stdout) == (code, f"Tool '{tool}' {error}", stdout)


@pytest.mark.parametrize(
    ("details", "exit_code", "stdout"),
    [
        pytest.param([], None, "", id="none"),
        pytest.param([None], None, "", id="null"),
        pytest.param(["out"], None, "", id="text"),
        pytest.param([["out", "err"]], None, "", id="a list"),
        pytest.param([{**CAPTURE, "exit_code": "three"}], None, "", id="an exit code in words"),
        pytest.param([{"exit_code": 3}], 3, "", id="only an exit code"),
        pytest.param([{**CAPTURE, "more": {"of": "it"}}, "second"], 3, "out", id="more than was asked for"),
    ],
)
async def test_a_failure_keeps_what_can_be_read_of_its_details(
    client: Client, executor: ExecutorProcess, details: list[JsonValue], exit_code: int | None, stdout: str
) -> None:
    finished = await call(client, executor, "fails", says_it_failed("TOOL_CRASHED", *details))

    assert [outcome.model_dump() for outcome in finished.outcomes] == [
        {
            "tool_success": False,
            "error": "odd",
            "error_code": "TOOL_CRASHED",
            "exit_code": exit_code,
            "stdout": stdout,
            "stderr": "err" if stdout else "",
        }
    ]


async def test_null_in_json_plain_is_an_answer(client: Client, executor: ExecutorProcess) -> None:
    finished = await call(client, executor, "answers", {**JSON, "data": "null"})

    assert finished.outcomes == [ToolSuccess(tool="answers", result=None)]


async def test_an_activity_that_takes_no_object_crashes(client: Client, executor: ExecutorProcess) -> None:
    finished = await call(client, executor, "takes-text", {})

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, "cannot unmarshal object" in outcome.error) == ("TOOL_CRASHED", True)


@pytest.mark.parametrize(
    ("megabytes", "error"),
    [
        pytest.param(
            1.5,
            "returned an answer of 1,500,002 bytes above the limit of 1MB; ask for less at once",
            id="1.5 MB, which the server carries",
        ),
        pytest.param(3, SENT_TOO_MUCH, id="3 MB, which the SDK refuses to send"),
        pytest.param(5, SENT_TOO_MUCH, id="5 MB, which is more than a message may have"),
    ],
)
async def test_an_answer_that_is_too_large_is_told(
    client: Client, executor: ExecutorProcess, megabytes: float, error: str
) -> None:
    params: dict[str, JsonValue] = {"data": "0123456789", "times": int(megabytes * 100_000)}
    finished = await call(client, executor, "answers-at-length", params)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.error) == (
        "OUTPUT_TOO_LARGE",
        f"Tool 'answers-at-length' {error}",
    )


@pytest.mark.parametrize(
    ("megabytes", "code"),
    [
        pytest.param(0.5, "TOOL_CRASHED", id="half a megabyte, which is shortened"),
        pytest.param(
            1.5, "OUTPUT_TOO_LARGE", id="3 MB in all, in whose place the server puts a word of its own"
        ),
        pytest.param(5, "TOOL_TIMEOUT", id="10 MB in all, which never arrives"),
    ],
)
async def test_a_failure_with_too_many_words_still_ends_the_call(
    client: Client, executor: ExecutorProcess, megabytes: float, code: str
) -> None:
    params: dict[str, JsonValue] = {"data": "0123456789", "times": int(megabytes * 100_000)}
    finished = await call(client, executor, "fails-at-length", params, timeoutSeconds=0.5)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, len(outcome.error) <= 2048, len(outcome.stdout) <= 10_240) == (
        code,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("tool", "params", "manifest", "code", "error"),
    [
        pytest.param("hangs", {}, {"heartbeatSeconds": 1}, "TOOL_LOST", LOST, id="it never beats, and must"),
        pytest.param(
            "hangs",
            {"beat": True, "encoding": "binary/mystery", "data": "x"},
            {"heartbeatSeconds": 1},
            "TOOL_LOST",
            LOST,
            id="it beats in an unknown encoding",
        ),
        pytest.param(
            "hangs",
            {"beat": True, **JSON, "data": "{"},
            {"heartbeatSeconds": 1},
            "TOOL_LOST",
            LOST,
            id="it beats garbage",
        ),
        pytest.param(
            "hangs",
            {},
            {"timeoutSeconds": 0.5},
            "TOOL_TIMEOUT",
            "timed out after 0.5s",
            id="it need not beat, and forgets its deadline",
        ),
        pytest.param(
            "hangs",
            {"beat": True, **JSON, "data": "0123456789", "times": 300_000},
            {"heartbeatSeconds": 5},
            "OUTPUT_TOO_LARGE",
            SENT_TOO_MUCH,
            id="it beats 3 MB, which its SDK takes for a failure",
        ),
        pytest.param(
            "promises",
            {},
            {"timeoutSeconds": 0.5},
            "TOOL_TIMEOUT",
            "timed out after 0.5s",
            id="it says that the answer comes later",
        ),
        pytest.param(
            "fails",
            {"failure": {"message": "odd", "timeoutFailureInfo": {"timeoutType": 2}}},
            {"timeoutSeconds": 0.5},
            "TOOL_TIMEOUT",
            "timed out after 0.5s",
            id="it claims that it was never asked, which the server refuses to hear",
        ),
    ],
)
async def test_silence_has_an_end(
    client: Client,
    executor: ExecutorProcess,
    tool: str,
    params: dict[str, JsonValue],
    manifest: dict[str, Any],
    code: str,
    error: str,
) -> None:
    finished = await call(client, executor, tool, params, **manifest)

    assert [
        (outcome.model_dump()["error_code"], outcome.model_dump()["error"]) for outcome in finished.outcomes
    ] == [(code, f"Tool '{tool}' {error}")]


async def test_a_run_does_not_wait_for_an_executor_that_ignores_its_cancel(
    client: Client, executor: ExecutorProcess
) -> None:
    tools = [remote("hangs", queue=executor.queue)]
    async with asyncio.timeout(20), serving(client, Replies([calls(("hangs", {}))]), tools) as queue:
        run = await start(client, queue)
        await until_running(
            run, lambda activity: activity.activity_type == "hangs" and activity.started_at is not None
        )
        await run.cancel()
        with pytest.raises(WorkflowFailureError) as ended:
            await asyncio.wait_for(run.result(), 8)

    assert isinstance(ended.value.cause, CancelledError)
