"""Type hints as pydantic takes them on every version of Python."""

import sys
import types
import typing
from typing import Annotated, Any, Literal, NotRequired, Required, Union

import typing_extensions


def portable(hint: Any) -> Any:  # noqa: ANN401  a type hint may be anything
    """Give a type hint with every TypedDict in it as pydantic takes it.

    Before Python 3.12 pydantic refuses those of `typing`, which do not remember what is required.
    """
    if sys.version_info >= (3, 12):
        return hint
    if typing.is_typeddict(hint):
        return _rebuilt(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is None or origin is Literal or not arguments:
        return hint
    if origin is Annotated:
        return Annotated[(portable(arguments[0]), *hint.__metadata__)]
    inner = tuple(portable(each) for each in arguments)
    if inner == arguments:
        return hint
    if origin in (Union, types.UnionType):
        union: Any = Union
        return union[inner]
    return origin[inner[0] if len(inner) == 1 else inner]


def _rebuilt(typed_dict: Any) -> Any:  # noqa: ANN401
    required: frozenset[str] = typed_dict.__required_keys__
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(typed_dict, include_extras=True).items():
        bare = typing.get_args(hint)[0] if typing.get_origin(hint) in (Required, NotRequired) else hint
        fields[name] = Required[portable(bare)] if name in required else NotRequired[portable(bare)]
    # Its fields are known only now, and a type checker wants to read them.
    make: Any = typing_extensions.TypedDict
    rebuilt = make(typed_dict.__name__, fields)
    rebuilt.__doc__ = typed_dict.__doc__
    return rebuilt
