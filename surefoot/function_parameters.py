"""The parameters of a function, as a schema for the model and as arguments for a call."""

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, create_model
from pydantic.fields import FieldInfo

from surefoot.definition import JsonSchema, schema_properties
from surefoot.flaw import Flaw
from surefoot.portable_types import portable
from surefoot.schema import problems
from surefoot.strict_json import encode_json
from surefoot.type_schema import NoSchemaError, schema_of

_VARIADIC = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}

_UNREADABLE = (NameError, SyntaxError, TypeError, AttributeError, ValueError, LookupError)
"""What Python and pydantic raise for an annotation that is no type."""


@dataclass(frozen=True)
class Parameters:
    """What a function takes, by name."""

    schema: JsonSchema
    _model: type[BaseModel]
    _names: Mapping[str, str]

    def with_defaults(self, params: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """Give params together with the defaults of those that are not among them."""
        schemas = schema_properties(self.schema).items()
        return {name: one["default"] for name, one in schemas if "default" in one} | dict(params)

    def misfits(self) -> Iterator[tuple[str, str]]:
        """Give the defaults that their types refuse: the parameter, and what is wrong with it."""
        definitions = self.schema.get("$defs", {})
        for name, one in schema_properties(self.schema).items():
            if "default" in one and (wrong := problems({**one, "$defs": definitions}, one["default"])):
                yield name, wrong[0]

    def arguments(self, params: Mapping[str, JsonValue]) -> dict[str, Any]:
        """Give the arguments that params stand for, each of the type that its annotation says.

        Raises:
            ValidationError: they do not fit.
        """
        read = self._model.model_validate_json(encode_json(dict(params)))
        return {name: getattr(read, field) for field, name in self._names.items()}


def read_parameters(function: Callable[..., Any], said: Mapping[str, str]) -> Parameters | tuple[Flaw, ...]:
    """Read a function's signature; `said` is what its docstring says of each parameter."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        return (Flaw(f"has no signature that can be read: {error}"),)
    parameters = list(signature.parameters.values())
    flaws = [flaw for parameter in parameters for flaw in _flaws(parameter)]
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters):
        hint = _typed(parameter, function)
        if isinstance(hint, Flaw):
            flaws.append(hint)
        elif not flaws:
            # Under names of our own: pydantic's models have attributes, too, and no private fields.
            fields[f"parameter_{number}"] = _field(parameter, hint, said.get(parameter.name))
    if flaws:
        return tuple(dict.fromkeys(flaws))
    return _read(fields, {f"parameter_{n}": parameter.name for n, parameter in enumerate(parameters)})


def meaning(annotation: Any, function: Callable[..., Any], place: str) -> Any:  # noqa: ANN401
    """Give the type that an annotation means, or the flaw that keeps it from meaning one."""
    holder = type("Annotated", (), {"__annotations__": {"it": annotation}})
    names: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    try:
        return portable(typing.get_type_hints(holder, globalns=names, include_extras=True)["it"])
    except _UNREADABLE as error:
        return Flaw(f"its type cannot be read: {type(error).__name__}: {error}", place)


def _typed(parameter: inspect.Parameter, function: Callable[..., Any]) -> Any:  # noqa: ANN401
    hint = meaning(parameter.annotation, function, parameter.name)
    if not isinstance(hint, Flaw) and hint is not inspect.Parameter.empty:
        try:
            schema_of(hint)
        except NoSchemaError as error:
            return Flaw(f"its type has no JSON Schema: {error}", parameter.name)
    return hint


def _flaws(parameter: inspect.Parameter) -> Iterator[Flaw]:
    name = parameter.name
    if parameter.kind in _VARIADIC:
        stars = _VARIADIC[parameter.kind]
        yield Flaw(f"{stars}{name} cannot be a tool's parameter: name each one in the signature", name)
    elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        yield Flaw("is positional-only, and a model gives parameters by their names", name)
    elif parameter.annotation is inspect.Parameter.empty:
        yield Flaw("has no type: annotate it", name)
    if isinstance(parameter.default, float) and not isfinite(parameter.default):
        yield Flaw(f"its default {parameter.default} is no JSON number", name)
    if isinstance(parameter.default, FieldInfo):
        yield Flaw("has Field(...) as its default: write Annotated[type, Field(...)] = default", name)


def _field(parameter: inspect.Parameter, hint: Any, said: str | None) -> tuple[Any, Any]:  # noqa: ANN401
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    described = any(isinstance(each, FieldInfo) and each.description for each in typing.get_args(hint)[1:])
    if said and not described:
        hint = Annotated[hint, Field(description=said)]
    return hint, Field(default, alias=parameter.name)


def _read(fields: dict[str, Any], names: Mapping[str, str]) -> Parameters | tuple[Flaw, ...]:
    try:
        model: type[BaseModel] = create_model(
            "Parameters", __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields
        )
        return Parameters(schema_of(model), model, names)
    except NoSchemaError as error:
        return (Flaw(f"its parameters have no JSON Schema: {error}"),)
