"""What of a call's params people are not shown, because the tool's definition says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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

_MOST_PLACES = 1_000
"""Of a schema are looked at; a workflow task has two seconds."""

_MOST_DEPTH = 200
"""Of a schema, its references followed."""


def masked_paths(definition: ToolDefinition) -> tuple[str, ...]:
    """Give the paths that `redact` names, and those that the schema marks as passwords or as `writeOnly`.

    A schema with marks, and too large to be looked through, has every parameter masked.
    """
    schema = definition.input_schema
    places = iter(range(_MOST_PLACES))
    found = (
        written_path(path) for path in (_in_schema(schema, schema, places) if _has_marks(schema) else ())
    )
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
    return _without(params, _steps(paths))


def masked_params(params: Mapping[str, JsonValue], paths: Sequence[str]) -> dict[str, JsonValue]:
    """Give the params of a call as `masked` does."""
    shown = masked(dict(params), paths)
    return shown if isinstance(shown, dict) else {}


def masked_texts(params: JsonValue, paths: Sequence[str]) -> tuple[str, ...]:
    """Give the values at these paths as they may stand in what a tool says, the longest first.

    Of very many it gives so many that `shown_text` and `text_without` leave all of a text out.
    """
    texts: set[str] = set()
    for text in _texts_at(params, _steps(paths)):
        if len(text) >= _LEAST_CHARACTERS:
            texts.add(text)
        if len(texts) > _MOST_VALUES:
            break
    return tuple(sorted(texts, key=len, reverse=True))


def text_without(text: str, hidden: Sequence[str]) -> str:
    """Give a text without these values."""
    if len(hidden) > _MOST_VALUES:
        return REDACTED if text else ""
    for value in hidden:
        text = text.replace(value, REDACTED)
    return text


def shown_text(text: str, hidden: Sequence[str]) -> str:
    """Give the whole of a text without these values, and without what looks like a secret."""
    return redacted_text(text_without(text, hidden), whole=True)


def shown_value(value: JsonValue, hidden: Sequence[str] = ()) -> JsonValue:
    """Give the whole of a JSON value as `shown_text` gives its texts."""
    if len(hidden) > _MOST_VALUES:
        return REDACTED
    return redacted(_replaced(value, hidden) if hidden else value, whole=True)


def _has_marks(value: JsonValue) -> bool:
    match value:
        case dict():
            return _is_marked(value) or any(map(_has_marks, value.values()))
        case list():
            return any(map(_has_marks, value))
        case _:
            return False


def _is_marked(schema: JsonSchema) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _in_schema(
    schema: JsonSchema,
    root: JsonSchema,
    places: Iterator[int],
    path: ParamPath = (),
    followed: frozenset[str] = frozenset(),
    *,
    depth: int = 0,
) -> Iterator[ParamPath]:
    if next(places, None) is None or depth > _MOST_DEPTH:
        # Definitions that refer to each other are reached on more ways than can be gone.
        yield (ANY_NAME,)
        return
    if path and _is_marked(schema):
        yield path
        return
    for step, within in _fields(schema):
        yield from _in_schema(within, root, places, (*path, *step), followed, depth=depth + 1)
    reference = schema.get("$ref")
    # What refers to itself would have no end.
    if isinstance(reference, str) and reference not in followed:
        for target in _target(reference, root):
            yield from _in_schema(target, root, places, path, followed | {reference}, depth=depth + 1)


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


@dataclass(frozen=True)
class _Step:
    """A place in params, on the way along all paths at once."""

    below: dict[str, "_Step"] = field(default_factory=dict[str, "_Step"])
    ends: list[bool] = field(default_factory=list[bool])
    """Not empty where a path ends."""


def _steps(paths: Sequence[str]) -> tuple[_Step, ...]:
    root = _Step()
    for path in paths:
        step = root
        for name in read_path(path):
            step = step.below.setdefault(name, _Step())
        step.ends.append(True)
    return (root,)


def _after(steps: Sequence[_Step], name: str) -> tuple[_Step, ...]:
    names = (name, ANY_NAME) if name != ANY_NAME else (name,)
    return tuple(step.below[one] for step in steps for one in names if one in step.below)


def _without(value: JsonValue, steps: Sequence[_Step]) -> JsonValue:
    if any(step.ends for step in steps):
        return REDACTED
    match value:
        case list():
            return [_without(item, steps) for item in value]
        case dict():
            fields = ((name, each, _after(steps, name)) for name, each in value.items())
            return {name: _without(each, after) if after else each for name, each, after in fields}
        case _:
            return value


def _texts_at(value: JsonValue, steps: Sequence[_Step]) -> Iterator[str]:
    whole = any(step.ends for step in steps)
    match value:
        case list():
            for item in value:
                yield from _texts_at(item, steps)
        case dict():
            for name, each in value.items():
                if after := steps if whole else _after(steps, name):
                    yield from _texts_at(each, after)
        case str() if whole:
            yield value
            yield encode_json(value)[1:-1]
        case int() if whole and not isinstance(value, bool):
            # As JSON has it, in a tenth of the time.
            yield str(value)
        case float() if whole:
            yield encode_json(value)
        case _:
            return


def _replaced(value: JsonValue, hidden: Sequence[str]) -> JsonValue:
    match value:
        case str():
            return text_without(value, hidden)
        case dict():
            return {text_without(name, hidden): _replaced(each, hidden) for name, each in value.items()}
        case list():
            return [_replaced(each, hidden) for each in value]
        case bool() | int() | float() | None:
            return REDACTED if encode_json(value) in hidden else value
