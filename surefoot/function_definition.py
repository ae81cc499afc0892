"""The definition of a function tool, read from the function, or everything that is wrong with it."""

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic.alias_generators import to_camel, to_snake

from surefoot.definition import JsonSchema, Manifest, ToolDefinition
from surefoot.docstring import Docstring, read_docstring
from surefoot.flaw import Flaw
from surefoot.function_answer import AnswerForm, answer_form
from surefoot.function_parameters import Parameters, meaning, read_parameters
from surefoot.function_tool import Decorated, ToolOptions
from surefoot.tool_result import ToolResult
from surefoot.type_schema import NoSchemaError, schema_of

_HINTS = ("read_only", "destructive", "idempotent", "open_world")
_MANIFEST_OPTIONS = (
    "usage",
    "timeout_seconds",
    "timeout_param",
    "limits",
    "exclusive",
    "executor_queue",
    "pickup_timeout_seconds",
    "heartbeat_seconds",
    "approval",
    "approval_timeout_seconds",
    "redact",
    "secrets",
)


@dataclass(frozen=True)
class FunctionTool:
    """A function that can be called as a tool."""

    definition: ToolDefinition
    function: Callable[..., Any]
    isolated: bool
    parameters: Parameters
    form: AnswerForm


@dataclass(frozen=True)
class Described:
    """What became of a decorated function: a tool, and what its author should know."""

    tool: FunctionTool | None
    flaws: tuple[Flaw, ...]


def describe(decorated: Decorated) -> Described:
    """Read a decorated function; nothing raises, and every flaw is listed."""
    function, options = decorated.function, decorated.options
    said = read_docstring(inspect.getdoc(function))
    parameters = read_parameters(function, said.parameters)
    form = _form(function, said.returns)
    flaws = [*_of_function(function, options), *_undocumented(said, options)]
    warnings = _misnamed(function, said)
    if isinstance(parameters, Parameters) and isinstance(form, AnswerForm):
        definition = _definition(decorated, said, parameters.schema, form.schema)
        warnings += tuple(
            Flaw(f"its default does not fit its type: {wrong}", name, warning=True)
            for name, wrong in parameters.misfits()
        )
        if isinstance(definition, ToolDefinition) and not flaws:
            return Described(FunctionTool(definition, function, options.isolated, parameters, form), warnings)
    else:
        flaws += [] if isinstance(parameters, Parameters) else parameters
        flaws += [form] if isinstance(form, Flaw) else []
        definition = _definition(decorated, said, {}, None)
    flaws += definition if isinstance(definition, list) else []
    return Described(None, (*flaws, *warnings))


def name_of(decorated: Decorated) -> str:
    """Give the name that a tool has, or would have."""
    return decorated.options.name or getattr(decorated.function, "__name__", "")


def _of_function(function: Callable[..., Any], options: ToolOptions) -> list[Flaw]:
    plain = inspect.unwrap(function)
    if inspect.isclass(plain):
        return [Flaw("is a class: decorate a function")]
    if inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain):
        return [Flaw("is a generator, and a tool gives one answer: return it")]
    if options.isolated and not _is_importable(function):
        return [
            Flaw(
                "has to be a function of its module by its own name, for another process to find it",
                "isolated",
            )
        ]
    return []


def _is_importable(function: Callable[..., Any]) -> bool:
    name = getattr(function, "__qualname__", "<unnamed>")
    return "<" not in name and not inspect.ismethod(function)


def _undocumented(said: Docstring, options: ToolOptions) -> list[Flaw]:
    if said.summary or options.description:
        return []
    return [Flaw("has no docstring, whose first paragraph tells the model what the tool does")]


def _misnamed(function: Callable[..., Any], said: Docstring) -> tuple[Flaw, ...]:
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
    return tuple(
        Flaw("its docstring describes a parameter that it does not have", name, warning=True)
        for name in said.parameters
        if name not in known
    )


def _form(function: Callable[..., Any], described: str) -> AnswerForm | Flaw:
    try:
        annotation = inspect.signature(function).return_annotation
    except (TypeError, ValueError):
        return AnswerForm()
    hint = meaning(annotation, function, "return")
    if isinstance(hint, Flaw):
        return hint
    if typing.get_origin(hint) is ToolResult:
        (hint,) = typing.get_args(hint)
    if hint in (inspect.Signature.empty, ToolResult):
        return answer_form(None, described)
    try:
        return answer_form(schema_of(hint, mode="serialization"), described)
    except NoSchemaError as error:
        return Flaw(f"its answer has no JSON Schema: {error}", "return")


def _definition(
    decorated: Decorated, said: Docstring, input_schema: JsonSchema, output_schema: JsonSchema | None
) -> ToolDefinition | list[Flaw]:
    options = decorated.options
    given: dict[str, JsonValue] = {
        to_camel(name): getattr(options, name)
        for name in _MANIFEST_OPTIONS
        if getattr(options, name) is not None
    }
    hints = {to_camel(f"{name}_hint"): getattr(options, name) for name in _HINTS}
    written: dict[str, JsonValue] = {
        "name": name_of(decorated),
        "description": options.description or said.summary or "-",
        "inputSchema": input_schema,
        "outputSchema": output_schema,
        "annotations": {"title": options.title, **hints},
        **({"usage": said.details} if said.details else {}),
        **given,
    }
    try:
        return Manifest.model_validate(written, strict=True, by_alias=True, by_name=False).definition()
    except ValidationError as error:
        return [
            Flaw(one["msg"].removeprefix("Value error, "), _option(one["loc"]))
            for one in error.errors()
            if one["type"] != "default_factory_not_called"
        ]


def _option(loc: tuple[int | str, ...]) -> str:
    first, *rest = loc
    name = to_snake(str(first))
    if name == "annotations" and rest:
        return to_snake(str(rest[0])).removesuffix("_hint")
    return ".".join([name, *map(str, rest)])
