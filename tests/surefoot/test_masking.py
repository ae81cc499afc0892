import time

import pytest
from pydantic import JsonValue

from surefoot.definition import ToolDefinition
from surefoot.masking import masked, masked_paths, masked_texts, masks_of, shown_text, shown_value


def definition(schema: dict[str, JsonValue], *redact: str) -> ToolDefinition:
    fields = {"name": "x", "description": "X.", "inputSchema": schema, "redact": redact}
    return ToolDefinition.model_validate(fields)


SECRET: JsonValue = {"type": "string", "format": "password"}


@pytest.mark.parametrize(
    ("schema", "redact", "paths"),
    [
        pytest.param({"properties": {"a": {}, "b": {}}}, ("b",), ("b",), id="named"),
        pytest.param({"properties": {"a": SECRET, "b": {"writeOnly": True}}}, (), ("a", "b"), id="marked"),
        pytest.param(
            {"properties": {"o": {"properties": {"k": SECRET, "x.y": SECRET}}}},
            ("o.k",),
            ("o.k", "o.x\\.y"),
            id="within another, once each",
        ),
        pytest.param(
            {"properties": {"l": {"items": SECRET}, "m": {"additionalProperties": SECRET}}},
            (),
            ("l", "m.*"),
            id="items, and any name",
        ),
        pytest.param(
            {"properties": {"c": {"anyOf": [{"type": "null"}, {"properties": {"k": SECRET}}]}}},
            (),
            ("c.k",),
            id="one of several",
        ),
        pytest.param(
            {
                "properties": {"n": {"$ref": "#/$defs/N"}},
                "$defs": {
                    "N": {"properties": {"p": {"$ref": "#/$defs/P"}, "n": {"$ref": "#/$defs/N"}}},
                    "P": SECRET,
                },
            },
            (),
            ("n.p",),
            id="by references, one of them to itself",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": SECRET}},
            (),
            ("a",),
            id="escaped",
        ),
        pytest.param({"properties": {"a": {"type": "string"}}}, (), (), id="nothing"),
    ],
)
def test_a_definition_tells_what_is_masked(
    schema: dict[str, JsonValue], redact: tuple[str, ...], paths: tuple[str, ...]
) -> None:
    told = definition({"type": "object", **schema}, *redact)
    assert (masked_paths(told), masks_of([told])) == (paths, {"x": paths} if paths else {})


@pytest.mark.parametrize(
    ("params", "paths", "shown"),
    [
        pytest.param({"a": "s", "b": 1}, ("a",), {"a": "[redacted]", "b": 1}, id="a value"),
        pytest.param(
            {"o": [{"k": 1}, {"k": {"deep": 2}, "z": 3}]},
            ("o.k",),
            {"o": [{"k": "[redacted]"}, {"k": "[redacted]", "z": 3}]},
            id="in each item",
        ),
        pytest.param(
            {"o": {"p": 1, "q": 2}}, ("o.*",), {"o": {"p": "[redacted]", "q": "[redacted]"}}, id="any"
        ),
        pytest.param('{"a": "s"', ("a",), "[redacted]", id="text that is no JSON"),
        pytest.param('{"a": "s"', (), '{"a": "s"', id="no mask"),
        pytest.param(None, ("a",), None, id="none"),
    ],
)
def test_params_are_masked_at_their_paths(
    params: JsonValue, paths: tuple[str, ...], shown: JsonValue
) -> None:
    assert masked(params, paths) == shown


def test_what_is_masked_is_masked_where_a_tool_repeats_it() -> None:
    params: JsonValue = {"pin": 4711, "key": 'quo"te', "deep": {"a": ["first", "abc"]}, "open": "door"}
    hidden = masked_texts(params, ("pin", "key", "deep"))
    answer: JsonValue = {"said": 'pin 4711, quo"te, "quo\\"te", first, abc, door', "n": [4711, 12]}
    assert (hidden, shown_value(answer, hidden)) == (
        ('quo\\"te', 'quo"te', "first", "4711"),
        {
            "said": 'pin [redacted], [redacted], "[redacted]", [redacted], abc, door',
            "n": ["[redacted]", 12],
        },
    )


def test_what_is_masked_is_masked_as_the_name_of_a_field_too() -> None:
    assert shown_value({"hunter2": {"x-hunter2": 1}}, ("hunter2",)) == {"[redacted]": {"x-[redacted]": 1}}


def test_of_very_many_masked_values_nothing_is_shown_and_none_is_searched_for() -> None:
    hidden = masked_texts({"keys": [f"key-{number:06}" for number in range(100_000)]}, ("keys",))
    began = time.process_time()
    shown = (shown_text("x" * 1_000_000, hidden), shown_text("", hidden), shown_value([1, "x"], hidden))

    assert shown == ("[redacted]", "", "[redacted]")
    assert time.process_time() - began < 1


def test_a_whole_text_is_shown_however_long_it_is() -> None:
    text = "x" * 5_000 + " password=hunter2 " + "y" * 5_000
    assert shown_text(text, ()) == text.replace("hunter2", "[redacted]")


def mutual(count: int, last: JsonValue) -> dict[str, JsonValue]:
    """Give a schema of so many definitions that each refer to all others."""
    references: dict[str, JsonValue] = {f"p{n}": {"$ref": f"#/$defs/d{n}"} for n in range(count)}
    definitions: dict[str, JsonValue] = {
        f"d{n}": {"properties": {**references, "x": last}} for n in range(count)
    }
    return {"$defs": definitions, "properties": {"a": {"$ref": "#/$defs/d0"}, "b": {}}}


@pytest.mark.parametrize(
    ("last", "paths"),
    [pytest.param({"type": "string"}, (), id="no mark"), pytest.param(SECRET, ("*",), id="a mark")],
)
def test_a_schema_that_leads_everywhere_takes_no_time(last: JsonValue, paths: tuple[str, ...]) -> None:
    began = time.process_time()
    found = masked_paths(definition(mutual(12, last)))

    assert time.process_time() - began < 1
    assert set(paths) <= set(found)
    assert bool(found) is bool(paths)


def test_what_lies_too_deep_is_masked_from_its_beginning_on() -> None:
    chain: dict[str, JsonValue] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}]} for n in range(500)}
    found = masked_paths(definition({"$defs": chain | {"d500": SECRET}, "$ref": "#/$defs/d0"}))

    assert found == ("*",)


def test_many_paths_take_the_time_of_one() -> None:
    params: JsonValue = {f"k{number}": [{"b": 1}, {"c": "secret"}] for number in range(10_000)}
    paths = tuple(f"*.x{number}" for number in range(1_000))
    began = time.process_time()
    shown, hidden = masked(params, paths), masked_texts(params, paths)

    assert time.process_time() - began < 2
    assert (shown, hidden) == (params, ())


def test_a_misspelled_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="'kye' must begin with the name of a property of inputSchema"):
        definition({"type": "object", "properties": {"key": {}}}, "kye")
