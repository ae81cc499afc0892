from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from surefoot.output_schema import OutputSchema, answer_rules, output_schema_problem, prompted_problem

ADAPTER: TypeAdapter[dict[str, Any]] = TypeAdapter(OutputSchema)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        pytest.param({}, None, id="anything fits"),
        pytest.param({"type": "object", "properties": {"a": {"type": "string"}}}, None, id="an object"),
        pytest.param(
            {"type": "text"},
            "type: \"text\" is not valid under any of the schemas listed in the 'anyOf' keyword",
            id="no such type",
        ),
        pytest.param(
            {"pattern": "(?=a)"}, 'pattern: "(?=a)" is not a "regex"', id="a pattern that looks around"
        ),
        pytest.param(
            {"description": "d" * 70_000},
            "it is 70,019 bytes as JSON, above the limit of 64KB",
            id="too large",
        ),
    ],
)
def test_a_schema_that_no_answer_could_be_held_against_is_refused(
    schema: dict[str, Any], problem: str | None
) -> None:
    assert output_schema_problem(schema) == problem
    if problem is not None:
        with pytest.raises(ValidationError, match="the output schema is refused: "):
            ADAPTER.validate_python(schema)


@pytest.mark.parametrize(
    ("schema", "ambiguous"),
    [
        pytest.param({"properties": {"tool_calls": {}}}, True, id="the calls themselves"),
        pytest.param({"required": ["tool", "params"]}, True, id="a single call"),
        pytest.param({"properties": {"tool": {}}, "required": ["params"]}, True, id="one of each"),
        pytest.param({"items": {"required": ["tool", "params"]}}, True, id="an array of calls"),
        pytest.param(
            {"anyOf": [{"type": "null"}, {"items": {"required": ["tool_calls"]}}]},
            True,
            id="perhaps calls",
        ),
        pytest.param({"properties": {"tool": {}}, "required": 7}, False, id="half a call"),
        pytest.param({"properties": {"x": {"properties": {"tool_calls": {}}}}}, False, id="further in"),
    ],
)
def test_a_schema_of_what_looks_like_calls_is_not_for_the_prompted_protocol(
    schema: dict[str, Any], ambiguous: bool
) -> None:
    assert (prompted_problem(schema) is not None) == ambiguous


def test_the_model_is_told_the_schema() -> None:
    assert answer_rules({"type": "array"}).endswith('a code fence:\n\n```json\n{"type": "array"}\n```')
