import pytest
from pydantic import JsonValue

from surefoot.json_schema import JsonSchema
from surefoot.recursive_schema import alternatives
from surefoot.schema import problems

TERM: JsonSchema = {
    "$ref": "#/$defs/term",
    "$defs": {
        "term": {
            "anyOf": [
                {"type": "number"},
                {
                    "properties": {"type": {"const": "add"}, "left": {"$ref": "#/$defs/term"}},
                    "type": "object",
                },
                {
                    "properties": {"type": {"const": "neg"}, "left": {"$ref": "#/$defs/term"}},
                    "type": "object",
                },
            ]
        }
    },
}
OPTIONAL: JsonSchema = {
    "properties": {"a": {"anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]}},
    "$defs": {"b": {"properties": {"c": {"$ref": "#/$defs/c"}}}, "c": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("schema", "most"),
    [
        pytest.param({}, 1, id="nothing"),
        pytest.param(OPTIONAL, 1, id="references that lead to an end"),
        pytest.param(TERM, 3, id="a definition that refers to itself"),
        pytest.param(
            {"oneOf": [{"items": {"$ref": "#"}}, {"type": "null"}]}, 2, id="the whole within itself"
        ),
        pytest.param({"properties": {"a": {"$ref": "#"}}}, 1, id="one way to lead back"),
        pytest.param(
            {
                "anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}],
                "$defs": {"a": {"items": {"$ref": "#/$defs/b~1"}}, "b/": {"items": [{"$ref": "#/anyOf/0"}]}},
            },
            2,
            id="over two others, and a list",
        ),
        pytest.param({"anyOf": [{"$ref": "#a"}, {"$anchor": "a"}]}, 2, id="a name: who knows"),
        pytest.param({"anyOf": [{"$ref": "#/anyOf/9"}, {}]}, 2, id="nowhere"),
        pytest.param({"properties": {"$ref": {"anyOf": [{"type": "null"}]}}}, 1, id="a field of that name"),
        pytest.param(
            {
                "anyOf": [{"$ref": "#/$defs/0"}, {}],
                "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(3_000)},
            },
            2,
            id="more references than are followed",
        ),
    ],
)
def test_only_a_schema_that_leads_back_multiplies_its_alternatives(schema: JsonSchema, most: int) -> None:
    assert alternatives(schema) == most


def term(depth: int, leaf: JsonValue) -> JsonValue:
    return leaf if depth == 0 else {"type": "neg", "left": term(depth - 1, leaf)}


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        pytest.param(TERM, term(60, 1), (), id="one that fits, however deep"),
        pytest.param(
            TERM, term(60, "x"), ("it does not fit, and is nested too deep to say where",), id="a deep one"
        ),
        pytest.param(
            TERM,
            "x",
            ("\"x\" is not valid under any of the schemas listed in the 'anyOf' keyword",),
            id="one that is not nested",
        ),
        pytest.param(OPTIONAL, {"a": {"c": 1}}, None, id="one of a schema that leads to an end"),
    ],
)
def test_what_is_wrong_with_a_deep_value_is_told_in_no_time(
    schema: JsonSchema, value: JsonValue, found: tuple[str, ...] | None
) -> None:
    told = problems(schema, value)
    assert told == found if found is not None else told[0].startswith("a: ")
