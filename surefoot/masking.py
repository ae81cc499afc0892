"""What of a call's params people are not shown, because the tool's definition says so."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from surefoot.definition import ToolDefinition, schema_properties
from surefoot.json_schema import JsonSchema
from surefoot.param_path import ANY_NAME, ParamPath, read_path, written_path
from surefoot.redaction import REDACTED, redacted, redacted_text
from surefoot.strict_json import encode_json

Masks = Mapping[str, tuple[str, ...]]
"""The paths of what is masked, by the name of the tool; only of tools that have any."""

_LEAST_CHARACTERS = 4
"""A shorter value is not looked for in other texts."""

_MOST_VALUES = 500
"""Of more, no text is searched for them: each search takes up to a millisecond, and nothing is shown."""


def masked_paths(definition: ToolDefinition) -> tuple[str, ...]:
    """Give the paths that `redact` names, and those that the schema marks as passwords or as `writeOnly`."""
    found = (written_path(path) for path in _in_schema(definition.input_schema, definition.input_schema))
    return tuple(dict.fromkeys((*definition.redact, *found)))


def masks_of(definitions: Sequence[ToolDefinition]) -> dict[str, tuple[str, ...]]:
    """Give what is masked in calls of these tools."""
    masks = {definition.name: masked_paths(definition) for definition in definitions}
    return {name: paths for name, paths in masks.items() if paths}


def masked(params: JsonValue, paths: Sequence[str]) -> JsonValue:
    """Give params without what stands at these paths; where there are any, nothing of what is no JSON."""
    if not paths:
        return params
    if not isinstance(params, dict | list):
        return params if params is None else REDACTED
    for path in paths:
        params = _without(params, read_path(path))
    return params


def masked_params(params: Mapping[str, JsonValue], paths: Sequence[str]) -> dict[str, JsonValue]:
    """Give the params of a call as `masked` does."""
    shown = masked(dict(params), paths)
    return shown if isinstance(shown, dict) else {}


def masked_texts(params: JsonValue, paths: Sequence[str]) -> tuple[str, ...]:
    """Give the values at these paths as they may stand in what a tool says, the longest first."""
    texts = {text for path in paths for text in _texts_at(params, read_path(path))}
    return tuple(sorted((text for text in texts if len(text) >= _LEAST_CHARACTERS), key=len, reverse=True))


def shown_text(text: str, hidden: Sequence[str]) -> str:
    """Give the whole of a text without these values, and without what looks like a secret."""
    return redacted_text(_text_without(text, hidden), whole=True)


def shown_value(value: JsonValue, hidden: Sequence[str] = ()) -> JsonValue:
    """Give the whole of a JSON value as `shown_text` gives its texts."""
    if len(hidden) > _MOST_VALUES:
        return REDACTED
    return redacted(_replaced(value, hidden) if hidden else value, whole=True)


def _in_schema(
    schema: JsonSchema, root: JsonSchema, path: ParamPath = (), followed: frozenset[str] = frozenset()
) -> Iterator[ParamPath]:
    if path and (schema.get("writeOnly") is True or schema.get("format") == "password"):
        yield path
        return
    for step, field in _fields(schema):
        yield from _in_schema(field, root, (*path, *step), followed)
    reference = schema.get("$ref")
    # What refers to itself would have no end.
    if isinstance(reference, str) and reference not in followed:
        for target in _target(reference, root):
            yield from _in_schema(target, root, path, followed | {reference})


def _fields(schema: JsonSchema) -> Iterator[tuple[ParamPath, JsonSchema]]:
    """Give the schemas within a schema, each with the step that leads there, if it takes one."""
    yield from (((name,), field) for name, field in schema_properties(schema).items())
    yield from (((ANY_NAME,), field) for field in _schemas(schema.get("additionalProperties")))
    yield from (((ANY_NAME,), field) for field in _schemas([*_named(schema.get("patternProperties"))]))
    for keyword in ("items", "prefixItems", "anyOf", "oneOf", "allOf", "then", "else"):
        yield from (((), field) for field in _schemas(schema.get(keyword)))


def _named(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict):
        yield from value.values()


def _schemas(value: JsonValue) -> Iterator[JsonSchema]:
    match value:
        case dict():
            yield value
        case list():
            yield from (each for each in value if isinstance(each, dict))
        case _:
            return


def _target(reference: str, root: JsonSchema) -> Iterator[JsonSchema]:
    target: JsonValue = root if reference.startswith("#") else None
    for step in reference.split("/")[1:]:
        target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, dict) else None
    if isinstance(target, dict):
        yield target


def _without(value: JsonValue, path: ParamPath) -> JsonValue:
    match value:
        case list():
            return [_without(item, path) for item in value]
        case dict():
            return {
                name: (_without(each, path[1:]) if path[1:] else REDACTED) if _fits(name, path[0]) else each
                for name, each in value.items()
            }
        case _:
            return value


def _texts_at(value: JsonValue, path: ParamPath) -> Iterator[str]:
    match value:
        case list():
            for item in value:
                yield from _texts_at(item, path)
        case dict():
            for name, each in value.items():
                if not path or _fits(name, path[0]):
                    yield from _texts_at(each, path[1:])
        case str() if not path:
            yield value
            yield encode_json(value)[1:-1]
        case int() | float() if not path and not isinstance(value, bool):
            yield encode_json(value)
        case _:
            return


def _text_without(text: str, hidden: Sequence[str]) -> str:
    if len(hidden) > _MOST_VALUES:
        return REDACTED if text else ""
    for value in hidden:
        text = text.replace(value, REDACTED)
    return text


def _fits(name: str, step: str) -> bool:
    return step in (name, ANY_NAME)


def _replaced(value: JsonValue, hidden: Sequence[str]) -> JsonValue:
    match value:
        case str():
            return _text_without(value, hidden)
        case dict():
            return {_text_without(name, hidden): _replaced(each, hidden) for name, each in value.items()}
        case list():
            return [_replaced(each, hidden) for each in value]
        case bool() | int() | float() | None:
            return REDACTED if encode_json(value) in hidden else value
