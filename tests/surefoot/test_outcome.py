import json

import pytest
from hypothesis import given
from pydantic import JsonValue, TypeAdapter, ValidationError
from temporalio.contrib.pydantic import pydantic_data_converter

from surefoot.outcome import ERROR_CODES, NEVER_ACTED, Outcome, ToolFailure, ToolSuccess, envelope
from surefoot.strict_json import strict_json
from tests.surefoot.arbitrary import OUTCOMES

OUTCOME: TypeAdapter[ToolSuccess | ToolFailure] = TypeAdapter(Outcome)
BASH: JsonValue = {"stdout": "…", "stderr": "", "exit_code": 0, "truncated": False}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        pytest.param(
            ToolSuccess(tool="bash", result=BASH),
            '{"tool": "bash", "tool_success": true, '
            '"result": {"stdout": "…", "stderr": "", "exit_code": 0, "truncated": false}}',
            id="success",
        ),
        pytest.param(
            ToolSuccess(tool="x", result=None),
            '{"tool": "x", "tool_success": true, "result": null}',
            id="null",
        ),
        pytest.param(
            ToolSuccess(tool="x", result={"success": False, "error": "no such file"}),
            '{"tool": "x", "tool_success": true, "result": {"success": false, "error": "no such file"}}',
            id="the tool worked and the operation failed",
        ),
        pytest.param(
            ToolFailure(
                error="Tool 'slow-tool' timed out after 30s",
                error_code="TOOL_TIMEOUT",
                exit_code=None,
                stdout="partial…",
                stderr="",
            ),
            '{"tool_success": false, "error": "Tool \'slow-tool\' timed out after 30s", '
            '"error_code": "TOOL_TIMEOUT", "exit_code": null, "stdout": "partial…", "stderr": ""}',
            id="failure",
        ),
    ],
)
def test_the_model_reads_one_fixed_text(outcome: ToolSuccess | ToolFailure, text: str) -> None:
    assert envelope(outcome) == text


@given(outcome=OUTCOMES)
def test_every_outcome_survives_json(outcome: ToolSuccess | ToolFailure) -> None:
    assert OUTCOME.validate_json(outcome.model_dump_json()) == outcome


@given(outcome=OUTCOMES)
def test_every_outcome_survives_a_payload(outcome: ToolSuccess | ToolFailure) -> None:
    converter = pydantic_data_converter.payload_converter
    arrived = converter.from_payload(converter.to_payload(outcome), type(outcome))
    assert envelope(arrived) == envelope(outcome)


@given(outcome=OUTCOMES)
def test_an_envelope_is_strict_json_with_exactly_the_keys_of_its_kind(
    outcome: ToolSuccess | ToolFailure,
) -> None:
    success = ["tool", "tool_success", "result"]
    failure = ["tool_success", "error", "error_code", "exit_code", "stdout", "stderr"]
    read = strict_json(envelope(outcome))
    assert isinstance(read, dict)
    assert list(read) == (success if outcome.tool_success else failure)


@given(outcome=OUTCOMES)
def test_an_envelope_read_back_is_the_outcome(outcome: ToolSuccess | ToolFailure) -> None:
    assert OUTCOME.validate_python(strict_json(envelope(outcome))) == outcome


@pytest.mark.parametrize("lacking", ["tool_success", "error", "error_code", "exit_code", "stdout", "stderr"])
def test_a_failure_without_one_of_its_six_keys_is_none(lacking: str) -> None:
    whole = {
        "tool_success": False,
        "error": "",
        "error_code": "TOOL_LOST",
        "exit_code": None,
        "stdout": "",
        "stderr": "",
    }
    OUTCOME.validate_json(json.dumps(whole))
    del whole[lacking]
    with pytest.raises(ValidationError):
        OUTCOME.validate_json(json.dumps(whole))


def test_the_error_codes_are_those_of_the_contract() -> None:
    assert {
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
    } == ERROR_CODES
    assert NEVER_ACTED < ERROR_CODES
