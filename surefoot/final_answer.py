"""A final answer that has to fit a schema: the JSON value that it is, or what is wrong with it in words."""

import re
from dataclasses import dataclass

from pydantic import JsonValue

from surefoot.json_schema import JsonSchema
from surefoot.schema import problems
from surefoot.sizes import MAX_ANSWER_VALUES, MAX_OUTPUT_BYTES, count
from surefoot.strict_json import (
    NotStrictJsonError,
    json_bytes,
    more_values_than,
    strict_json,
    surely_more_values_than,
)

_FENCE_OPENS = re.compile(r"(`{3,})(?:[\w+.-]*[ \t]*\n|(?:json)?)")
_TOO_LARGE = f"it is above the limit of {count(MAX_OUTPUT_BYTES)}"
_TOO_MANY = f"it holds more than {MAX_ANSWER_VALUES:,} values"


@dataclass(frozen=True)
class Answer:
    """The answer fits."""

    output: JsonValue


@dataclass(frozen=True)
class Misfit:
    """The answer does not fit; `reason` is for the model, field by field where it is JSON."""

    reason: str


def read_answer(text: str, schema: JsonSchema) -> Answer | Misfit:
    """Read what a model gave as its final answer: one strict JSON value, perhaps in a code fence.

    Never raises, whatever the text is; the schema must have been checked before.
    """
    inner = _without_fence(text.strip())
    if not inner:
        return Misfit("it was empty")
    # A result carries both, the text and the value.
    if json_bytes(text) > MAX_OUTPUT_BYTES:
        return Misfit(_TOO_LARGE)
    if surely_more_values_than(MAX_ANSWER_VALUES, inner.encode("utf-8", "surrogatepass")):
        return Misfit(_TOO_MANY)
    try:
        output = strict_json(inner)
    except NotStrictJsonError as error:
        return Misfit(f"it is not one JSON value and nothing else: {error}")
    return _held_against(schema, output)


def _held_against(schema: JsonSchema, output: JsonValue) -> Answer | Misfit:
    # Written out, a number may be longer than it was: 1e9.
    if json_bytes(output) > MAX_OUTPUT_BYTES:
        return Misfit(_TOO_LARGE)
    if more_values_than(MAX_ANSWER_VALUES, output):
        return Misfit(_TOO_MANY)
    found = problems(schema, output)
    return Misfit("; ".join(found)) if found else Answer(output)


def _without_fence(text: str) -> str:
    opening = _FENCE_OPENS.match(text)
    if opening is None or not text.endswith(opening[1]):
        return text
    return text[opening.end() : -len(opening[1])].strip()
