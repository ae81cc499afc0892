"""The JSON Schema of Python types, as a tool's definition carries it."""

from typing import Any, Literal, cast

from pydantic import JsonValue, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import SchemaError

from surefoot.definition import JsonSchema

_DEFINITIONS = "$defs"
_REFERENCE = f"#/{_DEFINITIONS}/"
_NAMED_SCHEMAS = ("properties", _DEFINITIONS, "patternProperties")
_DATA = ("const", "default", "enum", "examples")


class NoSchemaError(ValueError):
    """Says in a phrase why a type has no JSON Schema."""


class _Quiet(GenerateJsonSchema):
    """A default that is no JSON is the function's own, and no parameter's that a model is told."""

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        pass


def schema_of(hint: Any, *, mode: Literal["validation", "serialization"] = "validation") -> JsonSchema:  # noqa: ANN401  a type hint may be anything
    """Give the JSON Schema of a type: without titles, and with nothing referred to but what is recursive.

    Raises:
        NoSchemaError: it has none.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = adapter.json_schema(mode=mode, schema_generator=_Quiet)
    except PydanticSchemaGenerationError:
        raise NoSchemaError(f"{_named(hint)} is not something that JSON can carry") from None
    except PydanticInvalidForJsonSchema as error:
        raise NoSchemaError(f"{_named(hint)}: {error.message}") from None
    except PydanticUserError as error:
        raise NoSchemaError(f"{_named(hint)}: {' '.join(error.message.split())}") from None
    except SchemaError as error:
        raise NoSchemaError(f"{_named(hint)}: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise NoSchemaError(f"{_named(hint)} refers to itself; make it a pydantic model") from None
    return _inlined(_without_titles(cast(JsonSchema, schema)))


def _named(hint: Any) -> str:  # noqa: ANN401
    return f"'{getattr(hint, '__name__', None) or str(hint)}'"


def _without_titles(schema: JsonSchema) -> JsonSchema:
    """Leave out the titles that pydantic makes up of names; they tell a model nothing."""
    kept: JsonSchema = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in _NAMED_SCHEMAS and isinstance(value, dict):
            kept[key] = {name: _each(one, _without_titles) for name, one in value.items()}
        else:
            kept[key] = value if key in _DATA else _each(value, _without_titles)
    return kept


def _each(value: JsonValue, change: Any) -> JsonValue:  # noqa: ANN401
    match value:
        case dict():
            return change(value)
        case list():
            return [_each(one, change) for one in value]
        case _:
            return value


def _inlined(schema: JsonSchema) -> JsonSchema:
    """Put what is referred to in its place, for readers and providers who do not follow references."""
    definitions = schema.get(_DEFINITIONS)
    if not isinstance(definitions, dict):
        return schema
    try:
        flat = _resolved({key: one for key, one in schema.items() if key != _DEFINITIONS}, definitions, ())
    except RecursionError:
        return schema
    return cast(JsonSchema, flat)


def _resolved(value: JsonValue, definitions: JsonSchema, inside: tuple[str, ...]) -> JsonValue:
    match value:
        case list():
            return [_resolved(one, definitions, inside) for one in value]
        case {"$ref": str() as reference, **beside} if reference.startswith(_REFERENCE):
            name = reference.removeprefix(_REFERENCE)
            if name in inside:
                raise RecursionError
            target = cast(JsonSchema, _resolved(definitions[name], definitions, (*inside, name)))
            return {**target, **cast(JsonSchema, _resolved(beside, definitions, inside))}
        case dict():
            return {key: _member(key, one, definitions, inside) for key, one in value.items()}
        case _:
            return value


def _member(key: str, value: JsonValue, definitions: JsonSchema, inside: tuple[str, ...]) -> JsonValue:
    if key in _NAMED_SCHEMAS and isinstance(value, dict):
        return {name: _resolved(one, definitions, inside) for name, one in value.items()}
    return value if key in _DATA else _resolved(value, definitions, inside)
