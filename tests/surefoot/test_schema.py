import pytest
from pydantic import JsonValue

from surefoot.definition import JsonSchema
from surefoot.schema import SchemaRefusedError, check_schema, param_problems, place, problems
from surefoot.strict_json import json_bytes, strict_json

EMPTY_SCHEMA: JsonSchema = {}
FILE: JsonSchema = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "lines": {"type": "array", "items": {"type": "object", "required": ["text"]}},
        "mode": {"enum": ["read", "write"]},
        "size": {"type": "integer", "minimum": 0, "maximum": 10},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def nested_schema(depth: int) -> JsonSchema:
    schema: JsonSchema = {}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(EMPTY_SCHEMA, id="empty"),
        pytest.param(FILE, id="an object of fields"),
        pytest.param({"properties": {"a": True, "b": False}}, id="properties that are true and false"),
        pytest.param({"$ref": "#"}, id="a reference to itself"),
        pytest.param({"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"}, id="a local reference"),
        pytest.param({"$schema": "http://json-schema.org/draft-04/schema#"}, id="draft 4"),
        pytest.param({"$schema": "http://json-schema.org/draft-07/schema#"}, id="draft 7"),
        pytest.param({"format": "anything", "x-own": 1}, id="formats and keywords that nobody knows"),
        pytest.param({"maximum": int("9" * 400), "minItems": 10**30}, id="huge numbers"),
        pytest.param(nested_schema(40), id="deep"),
    ],
)
def test_a_schema_that_can_be_checked_locally_is_accepted(schema: JsonSchema) -> None:
    check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        pytest.param(
            {"type": "strng"}, 'type: "strng" is not valid under any of the schemas', id="no such type"
        ),
        pytest.param(
            {"type": 5}, "type: 5 is not valid under any of the schemas", id="a type that is a number"
        ),
        pytest.param({"properties": []}, 'properties: [] is not of type "object"', id="a list of properties"),
        pytest.param(
            {"properties": {"a": {"maximum": "5"}}},
            'properties.a.maximum: "5" is not of type "number"',
            id="a wrong keyword deep down",
        ),
        pytest.param({"pattern": "("}, 'pattern: "(" is not a "regex"', id="half a pattern"),
        pytest.param(
            {"properties": {"a": {"pattern": "(?=a)b"}}},
            'properties.a.pattern: "(?=a)b" is not a "regex"',
            id="look-ahead",
        ),
        pytest.param({"pattern": "(?<!a)b"}, 'pattern: "(?<!a)b" is not a "regex"', id="look-behind"),
        pytest.param({"pattern": "(a)\\1"}, 'is not a "regex"', id="a back-reference"),
        pytest.param(
            {"pattern": "(a{1000}){1000}"}, 'is not a "regex"', id="a pattern that would fill memory"
        ),
        pytest.param({"patternProperties": {"(?=a)": {}}}, 'is not a "regex"', id="look-ahead in a key"),
        pytest.param(
            {"$ref": "https://example.com/a"}, "https://example.com/a is remote, and only local", id="remote"
        ),
        pytest.param(
            {"$defs": {"unused": {"$ref": "https://example.com/a"}}}, "is remote", id="a remote one, not used"
        ),
        pytest.param(
            {"$id": "https://example.com/a", "$ref": "b"}, "is remote", id="relative to a remote one"
        ),
        pytest.param({"$ref": "file:///etc/passwd"}, "is remote", id="a reference to a file"),
        pytest.param({"$ref": "other.json"}, "'other.json' is not present", id="a reference to a neighbour"),
        pytest.param({"$ref": "#/nowhere"}, "'/nowhere' does not exist", id="a reference to nothing"),
        pytest.param(
            {"$schema": "https://example.com/meta"}, "Unknown meta-schema", id="a dialect of its own"
        ),
        pytest.param(nested_schema(99), "recursion limit exceeded", id="too deep"),
    ],
)
def test_a_schema_that_could_not_be_checked_is_refused(schema: JsonSchema, reason: str) -> None:
    with pytest.raises(SchemaRefusedError) as refused:
        check_schema(schema)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param(
            {"path": "a", "lines": [{"text": "b"}], "mode": "read", "size": 3.0}, (), id="what fits"
        ),
        pytest.param({}, ("path: required, and missing",), id="a required field is missing"),
        pytest.param({"path": 1}, ('path: 1 is not of type "string"',), id="a wrong type"),
        pytest.param(
            {"path": "a", "size": True}, ('size: true is not of type "integer"',), id="a boolean is none"
        ),
        pytest.param(
            {"path": "a", "size": 11}, ("size: 11 is greater than the maximum of 10",), id="too much"
        ),
        pytest.param(
            {"path": "a", "pth": 1, "x": 2}, ("the object: has no such field: pth, x",), id="unknown"
        ),
        pytest.param(
            {"path": "a", "mode": "append"},
            ('mode: "append" is not one of "read" or "write"',),
            id="no choice",
        ),
        pytest.param(
            {"path": "a", "lines": [{"text": ""}, {}]},
            ("lines[1].text: required, and missing",),
            id="deep down",
        ),
        pytest.param(
            {"path": "", "size": -1, "y": None},
            (
                'path: "" is shorter than 1 character',
                "size: -1 is less than the minimum of 0",
                "the object: has no such field: y",
            ),
            id="several at once, in a fixed order",
        ),
        pytest.param(
            {"path": "a", "size": int("9" * 4_300)},
            (f"size: {'9' * 120} … {'9' * 86} is greater than the maximum of 10",),
            id="an integer of 4,300 digits",
        ),
        pytest.param({"path": "\ud800"}, ("a lone surrogate in a string",), id="a lone surrogate"),
        pytest.param({"path": "a", "\udc00": 1}, ("a lone surrogate in a string",), id="in a key"),
        pytest.param(None, ("expected a JSON object, and got null",), id="null"),
        pytest.param([], ("expected a JSON object, and got array",), id="an array"),
        pytest.param(3, ("expected a JSON object, and got integer",), id="a number"),
        pytest.param(
            '{"path": ',
            ("expected a JSON object, and got text that is not one (Expecting value at character 9)",),
            id="text that is half a JSON object",
        ),
        pytest.param(
            "[1]",
            ("expected a JSON object, and got text that is not one (it is array)",),
            id="an array as text",
        ),
    ],
)
def test_params_are_judged_field_by_field(params: JsonValue, expected: tuple[str, ...]) -> None:
    assert param_problems(FILE, params) == expected


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        pytest.param(EMPTY_SCHEMA, None, (), id="everything fits an empty schema"),
        pytest.param({"type": "string"}, 1, ('1 is not of type "string"',), id="the value itself"),
        pytest.param(
            {"properties": {"a": False}}, {"a": 1}, ("a: is not allowed",), id="a property that is false"
        ),
        pytest.param(
            {"additionalProperties": False},
            {"a": 1},
            ("the object: may have no fields",),
            id="an object without any",
        ),
        pytest.param(
            {"items": {"maximum": 0}},
            list(range(1, 14)),
            (
                *(
                    f"[{at}]: {at + 1} is greater than the maximum of 0"
                    for at in (0, 10, 11, 12, 1, 2, 3, 4, 5, 6)
                ),
                "and 3 more",
            ),
            id="only so many are listed",
        ),
        pytest.param(
            {"items": {"type": "string"}},
            [1] * 3_000,
            ('[0]: 1 is not of type "string"',),
            id="the first of many",
        ),
        pytest.param(
            {"anyOf": [{"items": {"type": "string"}}] * 20},
            [1] * 250_000,
            ("it does not fit, and holds too many values to say where",),
            id="alternatives for a huge array",
        ),
        pytest.param(
            {"pattern": "(a+)+$"}, "a" * 100_000 + "!", None, id="a pattern that hangs other engines"
        ),
        pytest.param(
            {"allOf": [{"maxLength": n} for n in range(50)]}, "x" * 500_000, None, id="a long string"
        ),
    ],
)
def test_a_value_is_held_against_a_schema(
    schema: JsonSchema, value: JsonValue, expected: tuple[str, ...] | None
) -> None:
    found = problems(schema, value)
    assert found == expected if expected is not None else json_bytes(list(found)) < 4_096


def test_no_problem_is_longer_than_people_read() -> None:
    key, text = "k" * 100_000, "v" * 100_000
    found = problems({"additionalProperties": {"type": "integer"}}, {key: text})
    assert found == (f'{"k" * 120} … {"k" * 120}: "{"v" * 119} … {"v" * 94}" is not of type "integer"',)


def test_the_deepest_json_can_be_judged() -> None:
    deepest = strict_json("[" * 100 + "]" * 100)
    tree: JsonSchema = {
        "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
        "$ref": "#/$defs/n",
    }
    assert problems(tree, deepest) == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param([], "", id="the value itself"),
        pytest.param(["a"], "a", id="a field"),
        pytest.param(["files", 0, "name"], "files[0].name", id="a field in an array"),
        pytest.param([0, 1, "a", "b"], "[0][1].a.b", id="an array at the top"),
    ],
)
def test_a_place_is_printed_as_people_write_it(path: list[str | int], text: str) -> None:
    assert place(path) == text
