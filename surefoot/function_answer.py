"""The answer of a function tool: a plain dict of `success`, `error` and its own fields (seeds/001)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, cast

from pydantic import BaseModel, JsonValue

from surefoot.definition import JsonSchema, schema_properties
from surefoot.function_errors import error_code_of, error_text
from surefoot.schema import problems
from surefoot.tool_error import ToolError
from surefoot.tool_result import RESULT, ToolResult, own_fields

_CONTRACT: JsonSchema = {
    "success": {"type": "boolean", "description": "Whether the operation succeeded"},
    "error": {"type": ["string", "null"], "description": "Why it failed; null on success"},
    "error_code": {"type": "string", "description": "What kind of failure it was; only on failure"},
}

_NULL: JsonSchema = {"type": "null"}

_SCALARS = ("boolean", "integer", "number", "string")

_EMPTY: dict[str, JsonValue] = {"array": [], "object": {}, "string": ""}
"""What a field holds when there is nothing to say; of any other type it is null."""


@dataclass(frozen=True)
class AnswerForm:
    """A tool's own fields: their schemas, and what each holds in the answer of a failed operation."""

    fields: Mapping[str, JsonSchema] = field(default_factory=dict[str, JsonSchema])
    required: tuple[str, ...] = ()
    definitions: JsonSchema = field(default_factory=dict[str, JsonValue])
    described: str = ""

    @property
    def schema(self) -> JsonSchema:
        """The outputSchema: what every answer of the tool fits, successful or not."""
        own: JsonSchema = {name: self._or_empty(name) for name in self.fields if name not in _CONTRACT}
        required: list[JsonValue] = ["success", "error", *(name for name in self.required if name in own)]
        schema: JsonSchema = {"type": "object", "properties": _CONTRACT | own, "required": required}
        if self.described:
            schema["description"] = self.described
        if self.definitions:
            schema["$defs"] = self.definitions
        return schema

    @property
    def empty(self) -> dict[str, JsonValue]:
        """Every own field with nothing in it: `[]`, `{}`, `""` or null."""
        return {name: self._empty(name) for name in self.fields if name not in _CONTRACT}

    def fits(self, name: str, value: JsonValue) -> bool:
        """Tell whether a field may hold a value."""
        return not problems({**self.fields[name], "$defs": self.definitions}, value)

    def _empty(self, name: str) -> JsonValue:
        kind = self.fields[name].get("type")
        empty = _EMPTY.get(kind) if isinstance(kind, str) else None
        return empty if self.fits(name, empty) else None

    def _or_empty(self, name: str) -> JsonValue:
        schema = self.fields[name]
        if self.fits(name, self._empty(name)):
            return schema
        kind = schema.get("type")
        if kind in _SCALARS and not schema.keys() & {"enum", "const"}:
            # What does not fit is then told by its type, and not as "not valid under any of the schemas".
            return {**schema, "type": [kind, "null"]}
        beside = {key: schema[key] for key in ("description",) if key in schema}
        return {**beside, "anyOf": [schema, _NULL]}


def answer_form(schema: JsonSchema | None, described: str) -> AnswerForm:
    """Give the form of answers of which a return type's schema says this; None for a type that says nothing.

    An object's properties are the tool's own fields; what is no object is the field `result`.
    """
    if schema is None:
        return AnswerForm(described=described)
    definitions = cast(JsonSchema, schema.get("$defs", {}))
    if "$ref" in schema:
        target = definitions[str(schema["$ref"]).rpartition("/")[2]]
        schema = {**schema, **cast(JsonSchema, target)}
    if "properties" in schema:
        required = cast(list[str], schema.get("required", []))
        return AnswerForm(schema_properties(schema), tuple(required), definitions, described)
    if schema == _NULL or _may_be_object(schema):
        return AnswerForm(described=described)
    bare = {key: value for key, value in schema.items() if key != "$defs"}
    if described:
        bare.setdefault("description", described)
    return AnswerForm({RESULT: bare}, (RESULT,), definitions)


def answer_to(value: object, form: AnswerForm) -> dict[str, object]:
    """Give the answer that a returned value stands for; what the author left out of the contract is added."""
    result = cast(ToolResult[object], value) if isinstance(value, ToolResult) else None
    said = own_fields(cast(object, value)) if result is None else result.answer()
    success = said.get("success", not said.get("error"))
    contract: dict[str, object] = {"success": success, "error": None}
    if success is False and not said.get("error"):
        said["error"] = "the tool did not say why"
    nothing = value is None if result is None else result.value is None
    empty = form.empty if success is False or nothing else {}
    return {**contract, **empty, **said}


def failed_answer(error: Exception, form: AnswerForm, params: Mapping[str, JsonValue]) -> dict[str, object]:
    """Give the answer for an exception; own fields are empty, and those named like a parameter repeat it."""
    echoed = {name: value for name, value in params.items() if name in form.empty and form.fits(name, value)}
    known = error.fields if isinstance(error, ToolError) else {}
    return {
        "success": False,
        "error": error_text(error),
        "error_code": error_code_of(error),
        **form.empty,
        **echoed,
        **known,
    }


class NoAnswerError(ValueError):
    """Says in a phrase why what a function returned is no JSON."""


def answer_json(answer: Mapping[str, object]) -> str:
    """Give an answer as JSON text; dataclasses and models in it become objects.

    What only a strict parser refuses passes: lone surrogates, nesting, a key that stands twice.

    Raises:
        NoAnswerError: something in it is no JSON.
    """
    try:
        return json.dumps(answer, ensure_ascii=False, allow_nan=False, default=_plain)
    except RecursionError:
        raise NoAnswerError("it is nested too deep, or holds itself") from None
    except (TypeError, ValueError) as error:
        raise NoAnswerError(str(error)) from None


def _plain(value: Any) -> object:  # noqa: ANN401
    if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
        return own_fields(value)
    raise TypeError(f"a value of type {type(value).__name__} is no JSON")


def _may_be_object(schema: JsonSchema) -> bool:
    if "$ref" in schema or schema.get("type") == "object" or not schema.keys() - {"description", "$defs"}:
        return True
    choices = schema.get("anyOf", schema.get("oneOf"))
    return isinstance(choices, list) and any(
        isinstance(choice, dict) and _may_be_object(choice) for choice in choices
    )
