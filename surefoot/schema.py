"""JSON Schema, checked in a way that is safe inside a workflow: linear in time, and never remote."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NoReturn, cast

import jsonschema_rs
from pydantic import JsonValue

from surefoot.json_schema import JsonSchema
from surefoot.recursive_schema import alternatives
from surefoot.strict_json import (
    NotStrictJsonError,
    encode_json,
    is_unicode,
    json_type,
    more_values_than,
    nesting,
    strict_json,
)

MAX_PROBLEMS = 10
_MAX_PROBLEM_CHARACTERS = 240

MAX_VALUES_LISTED = 2_000
"""What is wrong with a larger value is not listed: a list of its problems can take minutes to make."""

# Each level of a value multiplies what is wrong with it by the alternatives: sixteen levels of two took 30 s.
_MAX_WAYS_LISTED = 50_000


class SchemaRefusedError(ValueError):
    """Says why a JSON Schema cannot be used: malformed, a remote `$ref`, a pattern with look-around."""


def check_schema(schema: Mapping[str, JsonValue]) -> None:
    """Refuse a schema that could not be checked later.

    Raises:
        SchemaRefusedError: with the place and the reason.
    """
    _validator(encode_json(dict(schema)))


def problems(schema: Mapping[str, JsonValue], value: JsonValue) -> tuple[str, ...]:
    """List what is wrong with a value, a phrase for each field; empty when it fits.

    Of a value of more than 2,000 values only the first problem is told, and where even that could take long,
    as with a value that is nested deep in alternatives, only that there is one: this runs in workflows, which
    have two seconds.

    Raises:
        SchemaRefusedError: if the schema itself was never checked.
    """
    text = encode_json(dict(schema))
    validator = _validator(text)
    if validator.is_valid(value):
        return ()
    if not more_values_than(MAX_VALUES_LISTED, value):
        if _alternatives(text) ** nesting(value) > _MAX_WAYS_LISTED:
            return ("it does not fit, and is nested too deep to say where",)
        return _listed(validator.iter_errors(value))
    if '"anyOf"' in text or '"oneOf"' in text:
        return ("it does not fit, and holds too many values to say where",)
    return _first_problem(validator, value)


def param_problems(schema: Mapping[str, JsonValue], params: JsonValue) -> tuple[str, ...]:
    """List what is wrong with a tool call's params.

    Params that are text stand for arguments that are not JSON.
    """
    match params:
        case dict() if not is_unicode(encode_json(params)):
            return ("a lone surrogate in a string",)
        case dict():
            return problems(schema, params)
        case str():
            return (f"expected a JSON object, and got text that is not one ({_why_not_json(params)})",)
        case _:
            return (f"expected a JSON object, and got {json_type(params)}",)


def _why_not_json(text: str) -> str:
    try:
        return f"it is {json_type(strict_json(text))}"
    except NotStrictJsonError as error:
        return str(error)


def _listed(errors: Iterable[jsonschema_rs.ValidationError]) -> tuple[str, ...]:
    found = sorted({_phrase(error) for error in errors})
    if len(found) > MAX_PROBLEMS:
        found[MAX_PROBLEMS:] = [f"and {len(found) - MAX_PROBLEMS} more"]
    return tuple(found)


def _first_problem(validator: jsonschema_rs.Validator, value: JsonValue) -> tuple[str, ...]:
    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return (_phrase(error),)
    return ()


def _phrase(error: jsonschema_rs.ValidationError) -> str:
    path = _cut(place(error.instance_path))
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Required(property=name):
            return f"{_cut(place([*error.instance_path, name]))}: required, and missing"
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties(unexpected=names):
            return f"{path or 'the object'}: has no such field: {_cut(', '.join(names))}"
        case jsonschema_rs.ValidationErrorKind.FalseSchema():
            # The validator names the object then, not its field.
            no_fields = error.schema_path[-1:] == ["additionalProperties"]
            return f"{path or 'the object'}: {'may have no fields' if no_fields else 'is not allowed'}"
        case _:
            message = _cut(error.message)
            return f"{path}: {message}" if path else message


def _cut(text: str) -> str:
    if len(text) <= _MAX_PROBLEM_CHARACTERS:
        return text
    half = _MAX_PROBLEM_CHARACTERS // 2
    return f"{text[:half]} … {text[-half:]}"


def place(path: Iterable[str | int]) -> str:
    """Print the path of a field as people write it: `files[0].name`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


@lru_cache(maxsize=512)
def _alternatives(schema: str) -> int:
    return alternatives(cast(JsonSchema, json.loads(schema)))


@lru_cache(maxsize=512)
def _validator(schema: str) -> jsonschema_rs.Validator:
    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=jsonschema_rs.RegexOptions(), retriever=_refuse
        )
    except jsonschema_rs.ValidationError as error:
        where = place(error.instance_path)
        raise SchemaRefusedError(f"{where}: {error.message}" if where else error.message) from None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise SchemaRefusedError(str(error)) from None


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is remote, and only local references are followed")
