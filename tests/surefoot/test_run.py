import json
from typing import Any

import pytest
from pydantic import ValidationError

from surefoot.limits import Limits
from surefoot.run import ModelPatience, RunInput, RunResult
from surefoot.usage import Usage

MINIMAL: dict[str, Any] = {"prompt": "p", "model": "m"}


def test_a_run_needs_a_prompt_and_a_model_and_nothing_else() -> None:
    assert json.loads(RunInput.model_validate(MINIMAL).model_dump_json()) == {
        "prompt": "p",
        "model": "m",
        "protocol": "native",
        "system": None,
        "output_schema": None,
        "limits": {
            "max_turns": 50,
            "max_tool_calls": None,
            "max_input_tokens": None,
            "max_output_tokens": None,
            "max_cost": None,
            "max_seconds": None,
            "failures_in_a_row": 5,
        },
        "model_patience": {
            "attempt_seconds": 600.0,
            "longest_pause_seconds": 300.0,
            "total_seconds": 21_600.0,
        },
        "on_model_failure": "fail",
        "on_approval": "wait",
        "tools": None,
        "chain": {"max_events": 8_192, "max_bytes": 8 * 1024 * 1024, "max_updates": 1_000},
        "agent": None,
        "tells_parent": False,
        "search_attributes": False,
        "carried": None,
    }


def test_a_run_survives_json() -> None:
    run = RunInput(
        prompt="é😀",
        model="scripted:a.yaml",
        protocol="prompted",
        system="s",
        limits=Limits(max_turns=1),
        model_patience=ModelPatience(attempt_seconds=1.5, longest_pause_seconds=2, total_seconds=3),
    )
    assert RunInput.model_validate_json(run.model_dump_json()) == run


def test_a_newer_starter_may_say_more_than_an_older_worker_knows() -> None:
    assert RunInput.model_validate({**MINIMAL, "colour": "blue", "limits": {"max_tokens": 3}}) == RunInput(
        **MINIMAL
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "is empty", id="nothing"),
        pytest.param(" \n\t", "is empty", id="nothing but spaces"),
        pytest.param("a\udc80b", "holds bytes that are no UTF-8", id="half a pair of surrogates"),
        pytest.param("é" * (512 * 1024), "is 1,048,578 bytes as JSON, above the limit of 1MB", id="too much"),
        pytest.param('"' * (512 * 1024), "is 1,048,578 bytes as JSON, above the limit of 1MB", id="as JSON"),
    ],
)
def test_a_prompt_is_text_that_a_history_can_carry(text: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=f"the prompt {reason}"):
        RunInput(prompt=text, model="m")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "is empty", id="nothing"),
        pytest.param("\udfff", "holds bytes that are no UTF-8", id="half a pair of surrogates"),
        pytest.param("s" * (256 * 1024), "is 262,146 bytes as JSON, above the limit of 256KB", id="too much"),
    ],
)
def test_a_system_prompt_is_short_text_or_none(text: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=f"the system prompt {reason}"):
        RunInput(prompt="p", model="m", system=text)


@pytest.mark.parametrize("name", ["", "\udc80", "m" * 9_000])
def test_a_model_has_a_name_that_people_can_read(name: str) -> None:
    with pytest.raises(ValidationError, match="the model's name"):
        RunInput(prompt="p", model=name)


@pytest.mark.parametrize(
    ("protocol", "schema", "problem"),
    [
        pytest.param("native", {"properties": {"tool_calls": {}}}, None, id="native calls are told apart"),
        pytest.param("prompted", {"type": "array"}, None, id="what is no call"),
        pytest.param(
            "prompted",
            {"properties": {"tool_calls": {}}},
            "the output schema is refused: it names the fields of a tool call",
            id="what looks like a call",
        ),
        pytest.param("native", {"type": 7}, "the output schema is refused: type: 7", id="no schema"),
    ],
)
def test_an_output_schema_is_one_that_answers_can_be_held_against(
    protocol: str, schema: dict[str, Any], problem: str | None
) -> None:
    fields = {**MINIMAL, "protocol": protocol, "output_schema": schema}
    if problem is None:
        assert RunInput.model_validate(fields).output_schema == schema
        return
    with pytest.raises(ValidationError, match=problem):
        RunInput.model_validate(fields)


def test_texts_may_be_as_long_as_their_limits() -> None:
    largest = RunInput(prompt="p" * (1024 * 1024 - 2), model="m", system="s" * (256 * 1024 - 2))
    assert RunInput.model_validate_json(largest.model_dump_json()) == largest


@pytest.mark.parametrize("field", ["attempt_seconds", "longest_pause_seconds", "total_seconds"])
@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(0, id="no time"),
        pytest.param(-1, id="less than no time"),
        pytest.param(1e-9, id="what rounds to no time"),
        pytest.param(float("inf"), id="for ever"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param(1e12, id="more than any clock counts"),
    ],
)
def test_patience_is_a_time_that_a_server_can_keep(field: str, seconds: float) -> None:
    with pytest.raises(ValidationError):
        ModelPatience.model_validate({field: seconds})


def test_a_result_survives_json() -> None:
    result = RunResult(
        status="limit_reached",
        answer="[1]",
        output=[1],
        reason="limit of 1 turn",
        turns=2,
        tool_executions=3,
        failed_tool_executions=1,
        usage=Usage(requests=2, input_tokens=10),
    )
    assert RunResult.model_validate_json(result.model_dump_json()) == result


def test_usage_adds_up() -> None:
    one = Usage(requests=1, input_tokens=2, output_tokens=3, cache_read_tokens=4, cache_write_tokens=5)
    assert one + one == Usage(
        requests=2, input_tokens=4, output_tokens=6, cache_read_tokens=8, cache_write_tokens=10
    )


def _named(name: str, *, size: int = 0) -> dict[str, Any]:
    return {"name": name, "description": "d" * size or "d", "inputSchema": {}}


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        pytest.param([_named("a"), _named("b")], None, id="two"),
        pytest.param([], None, id="none at all"),
        pytest.param([_named("a"), _named("a")], "two tools have the same name", id="the same name twice"),
        pytest.param(
            [_named("a", size=200_000), _named("b", size=80_000)],
            "the definitions are above the limit of 256KB",
            id="more than an input has room for",
        ),
    ],
)
def test_a_run_can_be_told_its_tools(tools: list[dict[str, Any]], problem: str | None) -> None:
    if problem is None:
        assert RunInput.model_validate({**MINIMAL, "tools": tools}).tools is not None
        return
    with pytest.raises(ValidationError, match=problem):
        RunInput.model_validate({**MINIMAL, "tools": tools})
