"""What a run's final answer must fit: a JSON Schema, checked before anybody is asked for anything."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator

from surefoot.json_schema import JsonSchema
from surefoot.schema import SchemaRefusedError, check_schema
from surefoot.sizes import MAX_OUTPUT_SCHEMA_BYTES, count
from surefoot.strict_json import encode_json, json_bytes

_MEANS_CALLS = "it names the fields of a tool call, and with the prompted protocol the two look the same"


def output_schema_problem(schema: JsonSchema) -> str | None:
    """Say in a phrase why no answer can be held against a schema; None for one that can be used."""
    if (size := json_bytes(schema)) > MAX_OUTPUT_SCHEMA_BYTES:
        return f"it is {size:,} bytes as JSON, above the limit of {count(MAX_OUTPUT_SCHEMA_BYTES)}"
    try:
        check_schema(schema)
    except SchemaRefusedError as error:
        return str(error)
    return None


def prompted_problem(schema: JsonSchema) -> str | None:
    """Say why answers that fit a schema could be taken for tool calls by the prompted protocol; else None."""
    return _MEANS_CALLS if any(_names_calls(part) for part in _parts(schema)) else None


def answer_rules(schema: JsonSchema) -> str:
    """Tell the model, in the system prompt, what its final answer must be."""
    return (
        "Your final answer, the reply in which you call no tool, must be one JSON value that fits this JSON "
        "Schema, the output schema, with nothing before or after it but perhaps a code fence:\n\n"
        f"```json\n{encode_json(schema)}\n```"
    )


def _parts(schema: JsonSchema) -> Iterator[JsonSchema]:
    """Give what an answer may be as a whole, or as an item of it: a call is found in an array, too."""
    yield schema
    for keyword in ("items", "prefixItems", "anyOf", "oneOf", "allOf"):
        inner = schema.get(keyword)
        for part in inner if isinstance(inner, list) else [inner]:
            if isinstance(part, dict):
                yield from _parts(part)


def _names_calls(schema: JsonSchema) -> bool:
    properties, required = schema.get("properties"), schema.get("required")
    named = {
        *(properties if isinstance(properties, dict) else ()),
        *(name for name in (required if isinstance(required, list) else ()) if isinstance(name, str)),
    }
    return "tool_calls" in named or {"tool", "params"} <= named


def _usable(schema: JsonSchema) -> JsonSchema:
    if (problem := output_schema_problem(schema)) is not None:
        raise ValueError(f"the output schema is refused: {problem}")
    return schema


OutputSchema = Annotated[JsonSchema, AfterValidator(_usable)]
"""A schema that answers can be held against, within its limit."""
