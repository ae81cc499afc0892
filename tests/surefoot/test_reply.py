import json
from datetime import timedelta

import pytest
from pydantic import JsonValue

from surefoot.definition import JsonSchema
from surefoot.failures import (
    Captured,
    crashed,
    invalid_json,
    output_too_large,
    schema_mismatch,
    timed_out,
    too_many_values,
)
from surefoot.outcome import ToolFailure, ToolSuccess, envelope
from surefoot.reply import check_answer, parse_reply
from surefoot.sizes import MAX_ANSWER_BYTES
from surefoot.strict_json import strict_json
from surefoot.truncation import keep_ends

TIMEOUT_RESPONSE = """{
  "tool_success": false,
  "error": "Tool 'slow-tool' timed out after 30s",
  "error_code": "TOOL_TIMEOUT",
  "exit_code": null,
  "stdout": "partial output before timeout...\\n",
  "stderr": ""
}"""
CRASH_RESPONSE = """{
  "tool_success": false,
  "error": "Tool 'buggy-tool' crashed with exit code 139",
  "error_code": "TOOL_CRASHED",
  "exit_code": 139,
  "stdout": "",
  "stderr": "Segmentation fault (core dumped)\\n"
}"""
INVALID_OUTPUT_RESPONSE = """{
  "tool_success": false,
  "error": "Tool 'broken-tool' returned invalid JSON",
  "error_code": "INVALID_OUTPUT",
  "exit_code": 0,
  "stdout": "not valid json{{{",
  "stderr": ""
}"""
SUCCESS_RESPONSE = """{
  "tool": "bash",
  "tool_success": true,
  "result": {
    "stdout": "total 48\\n",
    "stderr": "",
    "exit_code": 0,
    "truncated": false
  }
}"""


@pytest.mark.parametrize(
    ("outcome", "response"),
    [
        pytest.param(
            timed_out(
                "slow-tool", timedelta(seconds=30), Captured(stdout="partial output before timeout...\n")
            ),
            TIMEOUT_RESPONSE,
            id="timeout",
        ),
        pytest.param(
            parse_reply("buggy-tool", exit_code=139, stdout="", stderr="Segmentation fault (core dumped)\n"),
            CRASH_RESPONSE,
            id="crash",
        ),
        pytest.param(
            parse_reply("broken-tool", exit_code=0, stdout="not valid json{{{", stderr=""),
            INVALID_OUTPUT_RESPONSE,
            id="invalid output",
        ),
        pytest.param(
            parse_reply(
                "bash",
                exit_code=0,
                stdout='{"stdout": "total 48\\n", "stderr": "", "exit_code": 0, "truncated": false}\n',
                stderr="",
            ),
            SUCCESS_RESPONSE,
            id="success",
        ),
    ],
)
def test_the_model_gets_the_envelopes_of_the_contract_to_the_letter(
    outcome: ToolSuccess | ToolFailure, response: str
) -> None:
    assert json.dumps(json.loads(envelope(outcome)), indent=2) == response


@pytest.mark.parametrize(
    ("exit_code", "stdout", "outcome"),
    [
        pytest.param(0, '{"ok": true}', ToolSuccess(tool="t", result={"ok": True}), id="an object"),
        pytest.param(0, b' "caf\xc3\xa9"\n', ToolSuccess(tool="t", result="café"), id="text as bytes"),
        pytest.param(0, "null", ToolSuccess(tool="t", result=None), id="null"),
        pytest.param(
            0,
            '{"success": false, "error": "no such file"}',
            ToolSuccess(tool="t", result={"success": False, "error": "no such file"}),
            id="the operation failed",
        ),
        pytest.param(0, "", invalid_json("t", Captured("", "warn")), id="nothing"),
        pytest.param(0, "{", invalid_json("t", Captured("{", "warn")), id="half a JSON object"),
        pytest.param(0, "{} {}", invalid_json("t", Captured("{} {}", "warn")), id="two JSON objects"),
        pytest.param(0, "NaN", invalid_json("t", Captured("NaN", "warn")), id="NaN"),
        pytest.param(0, b"caf\xe9", invalid_json("t", Captured("caf\ufffd", "warn")), id="not UTF-8"),
        pytest.param(0, '"\\ud800"', invalid_json("t", Captured('"\\ud800"', "warn")), id="a lone surrogate"),
        pytest.param(0, '"\ud800"', invalid_json("t", Captured('"\ufffd"', "warn")), id="an unescaped one"),
        pytest.param(
            1, '{"ok": true}', crashed("t", 1, Captured('{"ok": true}', "warn")), id="a failing exit"
        ),
        pytest.param(137, "", crashed("t", 137, Captured("", "warn")), id="killed"),
    ],
)
def test_what_an_executable_left_behind_becomes_an_outcome(
    exit_code: int, stdout: str | bytes, outcome: ToolSuccess | ToolFailure
) -> None:
    assert parse_reply("t", exit_code=exit_code, stdout=stdout, stderr="warn") == outcome


def test_a_failure_shows_output_at_the_default_limits() -> None:
    stdout, stderr = "o" * 20_000, "é" * 20_000
    shown = Captured(keep_ends(stdout, 10_240), keep_ends(stderr, 4_096))
    assert parse_reply("t", exit_code=1, stdout=stdout, stderr=stderr) == crashed("t", 1, shown)


def test_a_failure_shows_what_its_caller_captured() -> None:
    shown = Captured("head … tail", "")
    reply = parse_reply("t", exit_code=0, stdout="x" * 20_000, stderr="y", captured=shown)
    assert reply == invalid_json("t", shown)


TEXT_OF_A_TITLE: JsonSchema = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
}
LARGEST = "x" * (MAX_ANSWER_BYTES - 2)
SHOWN = Captured("out", "err")


@pytest.mark.parametrize("exit_code", [0, None])
@pytest.mark.parametrize(
    ("answer", "schema", "problems"),
    [
        pytest.param({"title": "a"}, TEXT_OF_A_TITLE, [], id="what the schema says"),
        pytest.param({"title": 1}, TEXT_OF_A_TITLE, ['title: 1 is not of type "string"'], id="a wrong type"),
        pytest.param([], TEXT_OF_A_TITLE, ['[] is not of type "object"'], id="an array for an object"),
        pytest.param([1, None], None, [], id="anything without a schema"),
        pytest.param({"a": 1}, {}, [], id="anything with an empty schema"),
        pytest.param(LARGEST, None, [], id="as large as the cap"),
        pytest.param(
            [1] * 49_999,
            {"items": {"type": "string"}},
            ['[0]: 1 is not of type "string"'],
            id="very many wrong items",
        ),
    ],
)
def test_an_answer_is_held_against_its_schema(
    answer: JsonValue, schema: JsonSchema | None, problems: list[str], exit_code: int | None
) -> None:
    outcome = check_answer("t", answer, captured=lambda: SHOWN, output_schema=schema, exit_code=exit_code)
    mismatch = schema_mismatch("t", problems, SHOWN, exit_code=exit_code)
    assert outcome == (mismatch if problems else ToolSuccess(tool="t", result=answer))


@pytest.mark.parametrize("exit_code", [0, None])
@pytest.mark.parametrize(
    ("answer", "size_bytes"),
    [
        pytest.param(LARGEST + "x", MAX_ANSWER_BYTES + 1, id="a byte above the cap"),
        pytest.param("é" * (MAX_ANSWER_BYTES // 2), MAX_ANSWER_BYTES + 2, id="bytes count, not characters"),
        pytest.param("\n" * (MAX_ANSWER_BYTES // 2), MAX_ANSWER_BYTES + 2, id="escapes count"),
    ],
)
def test_an_answer_above_the_cap_is_too_large(
    answer: JsonValue, size_bytes: int, exit_code: int | None
) -> None:
    outcome = check_answer("t", answer, captured=lambda: SHOWN, output_schema=None, exit_code=exit_code)
    assert outcome == output_too_large("t", SHOWN, size_bytes=size_bytes, exit_code=exit_code)


@pytest.mark.parametrize("exit_code", [0, None])
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param([1] * 50_000, id="an array, itself one of them"),
        pytest.param({"a": [{"b": 1}] * 25_000}, id="objects"),
        pytest.param([strict_json("[" * 98 + "]" * 98)] * 5_000, id="nothing but brackets"),
    ],
)
def test_an_answer_of_too_many_values_is_too_large(answer: JsonValue, exit_code: int | None) -> None:
    outcome = check_answer("t", answer, captured=lambda: SHOWN, output_schema=None, exit_code=exit_code)
    assert outcome == too_many_values("t", SHOWN, exit_code=exit_code)
