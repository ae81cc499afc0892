import asyncio
import json
import socket
from pathlib import Path

import pytest

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.mcp.servers import calling, config, endpoint, load
from tests.faults.case import Like

Outcomes = dict[str, ToolSuccess | ToolFailure]

ANSWERS = {
    "echo": {"content": [{"type": "text", "text": "{}"}]},
    "streams": {"content": [{"type": "text", "text": "streamed"}]},
    "fails": {"error": "not here"},
}

FAILURES = {
    "refuses-params": ("INVALID_PARAMS", "was not called, its params are invalid: says -32602", "", ""),
    "knows-nothing": ("TOOL_NOT_FOUND", "is not known to its server: says -32601", "", ""),
    "breaks-inside": ("TOOL_CRASHED", "its server answered with the error -32603: says -32603", "", ""),
    "says-500": ("TOOL_CRASHED", "its server answered HTTP 500 Internal Server Error", "", ""),
    "says-503": ("TOOL_CRASHED", "its server answered HTTP 503 Service Unavailable", "", ""),
    "says-404": ("TOOL_CRASHED", "its server answered HTTP 404 Not Found", "", ""),
    "redirects": ("TOOL_CRASHED", "its server answered with a redirect: Redirect to http://127", "", ""),
    "accepts": ("INVALID_OUTPUT", "server answered a request with 202 Accepted", "", ""),
    "garbage": ("INVALID_OUTPUT", "EOF while parsing", '{"jsonrpc": "2.0", "id"', ""),
    "page": ("INVALID_OUTPUT", "Unexpected content type: text/html", "", ""),
    "infinite": ("INVALID_OUTPUT", "it is no strict JSON: Out of range float values", "", ""),
    "no-content": ("INVALID_OUTPUT", "it is no result of a tool call: content: Field required", "", ""),
    "garbage-in-stream": ("INVALID_OUTPUT", "key must be a string", Like(".*{oops.*"), ""),
    "cuts-its-answer": ("TOOL_LOST", "peer closed connection without sending complete", "", ""),
    "cuts-its-stream": ("TOOL_LOST", "SSE stream ended without a response", "", "[info] 1\n"),
    "resets": ("TOOL_LOST", "was lost: the connection to its server broke: ReadError; it may or", "", ""),
    "hangs": ("TOOL_TIMEOUT", "timed out after 1.5s", "", ""),
    "hangs-in-stream": ("TOOL_TIMEOUT", "timed out after 1.5s", "", ""),
    "floods": ("OUTPUT_TOO_LARGE", "returned an answer above the limit of 1MB", "", ""),
    "floods-in-stream": ("OUTPUT_TOO_LARGE", "returned an answer above the limit of 1MB", "", ""),
    "dies": ("TOOL_LOST", "was lost: the connection to its server broke", "", ""),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every tool called once, one after the other; the last one is called when its server is gone."""

    async def call_all() -> Outcomes:
        directory = tmp_path_factory.mktemp("http")
        with endpoint(directory) as url:
            async with calling(directory, h={"url": url}) as call:
                outcomes = {tool: await call(f"h__{tool}") for tool in ANSWERS}
                for tool, (code, *_) in FAILURES.items():
                    outcomes[tool] = await call(f"h__{tool}", seconds=1.5 if code == "TOOL_TIMEOUT" else 20)
                return {**outcomes, "headers": await call("h__headers")}

    return asyncio.run(call_all())


@pytest.mark.parametrize("tool", ANSWERS)
def test_an_answer_is_what_the_model_reads(tool: str, outcomes: Outcomes) -> None:
    outcome = outcomes[tool]
    assert isinstance(outcome, ToolSuccess)
    assert outcome.result == ANSWERS[tool]


@pytest.mark.parametrize("tool", FAILURES)
def test_a_call_without_a_valid_answer_says_what_became_of_it(tool: str, outcomes: Outcomes) -> None:
    code, error, stdout, stderr = FAILURES[tool]
    outcome = outcomes[tool]
    assert isinstance(outcome, ToolFailure)
    shown = (outcome.error_code, outcome.exit_code, outcome.stdout, outcome.stderr)
    assert (*shown, error in outcome.error) == (code, None, stdout, stderr, True), outcome.error


def test_a_call_of_a_server_that_is_gone_was_never_made(outcomes: Outcomes) -> None:
    outcome = outcomes["headers"]
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.exit_code, outcome.error.partition(": its")[0]) == (
        "TOOL_CRASHED",
        126,
        "Tool 'h__headers' could not be started",
    )


async def test_headers_are_sent_and_a_wrong_key_is_told_when_tools_are_loaded(tmp_path: Path) -> None:
    with endpoint(tmp_path) as url:
        async with calling(tmp_path, h={"url": url, "headers": {"X-Key": "${SECRET}"}}) as call:
            sent = json.loads(await call.text("h__headers"))
        file = config(tmp_path, h={"url": url, "headers": {"Authorization": "Bearer wrong"}})
        _, problems = await asyncio.to_thread(load, file)
    assert (sent["X-Key"], [str(problem) for problem in problems]) == (
        "key",
        [
            (
                f"{file}: mcpServers.h: gives no tools: its server gives no session: its server "
                f"answered HTTP 401 "
                "Unauthorized"
            )
        ],
    )


def test_nobody_at_the_address_is_a_problem(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        file = config(tmp_path, h={"url": f"http://127.0.0.1:{closed.getsockname()[1]}/mcp"})
        tools, problems = load(file)
    assert (tools, [str(problem) for problem in problems]) == (
        {},
        [
            (
                f"{file}: mcpServers.h: gives no tools: its server cannot be reached: All "
                f"connection attempts "
                "failed (ConnectError)"
            )
        ],
    )
