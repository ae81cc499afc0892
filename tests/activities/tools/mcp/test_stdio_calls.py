import asyncio
from pathlib import Path

import pytest

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.mcp.servers import calling, rogue
from tests.faults.case import Like

Outcomes = dict[str, ToolSuccess | ToolFailure]


def _text(words: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}]}


ANSWERS: dict[str, tuple[str, object]] = {
    "echo": ("a text", _text("{}")),
    "adds": ("a structured answer", {"sum": 0}),
    "fails": ("an error of the operation", {"error": "there is no such file"}),
    "fails-with-schema": ("an error where another answer was promised", {"error": "not today"}),
    "noise": ("lines for people before the answer", _text("done")),
    "asks": ("a request to the client, which is refused", _text("-32600")),
    "another-id-type": ("the id as text", {"content": []}),
}

_NO_ANSWER = "Tool 'r__x' returned an answer that cannot be decoded: "

FAILURES = {
    "exits": ("TOOL_LOST", "was lost: its server exited with code 0; it may or may not", "", "last words\n"),
    "exits-with-3": ("TOOL_LOST", "was lost: its server exited with code 3; it", "", "last words\n"),
    "segfaults": ("TOOL_LOST", "was lost: its server was killed by signal 11; it may", "", ""),
    "closes-stdout": ("TOOL_LOST", "was lost: its server closed its stdout; it may or", "", ""),
    "chatters": ("TOOL_LOST", "its server sent more than can be read; it", Like(".*TRUNCATED.*"), ""),
    "hangs": ("TOOL_TIMEOUT", "timed out after 1.5s", "", ""),
    "prints-text": ("TOOL_TIMEOUT", "timed out after 1.5s", "this is no message\n", ""),
    "wrong-id": ("TOOL_TIMEOUT", "timed out after 1.5s", "", Like(".*nobody waits for: id 999.*")),
    "half-a-message": ("INVALID_OUTPUT", "cannot be decoded: Expecting", Like(r"\{.*\[$"), ""),
    "garbage-in-braces": ("INVALID_OUTPUT", "cannot be decoded: Expecting", "{oops}", ""),
    "a-list": ("INVALID_OUTPUT", "cannot be decoded: a message is an object", "[1, 2]", ""),
    "same-key-twice": ("INVALID_OUTPUT", "the key 'content' stands twice", Like(r"\{.*\}"), ""),
    "nan": ("INVALID_OUTPUT", "NaN is not JSON", Like(r"\{.*\}"), ""),
    "no-version": ("INVALID_OUTPUT", "it is no message of JSON-RPC 2.0", Like(r"\{.*\}"), ""),
    "null-result": ("INVALID_OUTPUT", "it is no message of JSON-RPC 2.0", Like(r"\{.*\}"), ""),
    "no-content": ("INVALID_OUTPUT", "it is no result of a tool call: content: Field required", "", ""),
    "unknown-content": ("INVALID_OUTPUT", "it is no result of a tool call: content.0", "", ""),
    "wrong-sum": ("INVALID_OUTPUT", 'match its output schema: sum: "x" is not of type', "", ""),
    "no-sum": ("INVALID_OUTPUT", "it has an outputSchema, and sent no structuredContent", "", ""),
    "floods": ("OUTPUT_TOO_LARGE", "an answer of 40,000,0", "", ""),
    "large": ("OUTPUT_TOO_LARGE", "an answer of 1,200,043 bytes above the limit of 1MB", "", ""),
    "refuses": ("TOOL_CRASHED", "crashed: its server answered with the error -32000: says", "", ""),
    "breaks-inside": ("TOOL_CRASHED", "its server answered with the error -32603: says -32603", "", ""),
    "logs": ("TOOL_CRASHED", "error -32000: no", "", "[warning] careful\n[progress] 1/2\non stderr\n"),
    "refuses-params": ("INVALID_PARAMS", "was not called, its params are invalid: says -32602", "", ""),
    "knows-nothing": ("TOOL_NOT_FOUND", "is not known to its server: says -32601", "", ""),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Every tool called once, one after the other, in sessions that are opened anew where one ended."""

    async def call_all() -> Outcomes:
        async with calling(tmp_path_factory.mktemp("stdio"), r=rogue()) as call:
            outcomes = {tool: await call(f"r__{tool}") for tool in ANSWERS}
            for tool, (code, *_) in FAILURES.items():
                # A server that has to be started first may take the whole of a short time for it.
                await call("r__echo")
                outcomes[tool] = await call(f"r__{tool}", seconds=1.5 if code == "TOOL_TIMEOUT" else 20)
            return outcomes

    return asyncio.run(call_all())


@pytest.mark.parametrize("tool", [pytest.param(tool, id=said) for tool, (said, _) in ANSWERS.items()])
def test_an_answer_is_what_the_model_reads(tool: str, outcomes: Outcomes) -> None:
    outcome = outcomes[tool]
    assert isinstance(outcome, ToolSuccess)
    assert outcome.result == ANSWERS[tool][1]


@pytest.mark.parametrize("tool", FAILURES)
def test_a_call_without_a_valid_answer_says_what_became_of_it(tool: str, outcomes: Outcomes) -> None:
    code, error, stdout, stderr = FAILURES[tool]
    outcome = outcomes[tool]
    assert isinstance(outcome, ToolFailure)
    shown = (outcome.error_code, outcome.exit_code, outcome.stdout, outcome.stderr)
    assert (*shown, error in outcome.error) == (code, None, stdout, stderr, True), outcome.error


async def test_a_picture_is_kept_as_an_artifact(tmp_path: Path) -> None:
    async with calling(tmp_path, r=rogue()) as call:
        outcome = await call("r__picture")
    (kept,) = (tmp_path / "store").rglob("*.png")
    assert isinstance(outcome, ToolSuccess)
    assert outcome.result == {
        "content": [{"type": "image", "mimeType": "image/png", "artifact": "content_1_artifact"}],
        "content_1_artifact": str(kept),
    }
