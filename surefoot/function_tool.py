"""A Python function as a tool: what `@tool` says of it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, overload

from pydantic import JsonValue

_RECORD = "__surefoot_tool__"

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class ToolOptions:
    """What an author said beyond the function itself: a manifest's fields; None where nothing was said."""

    name: str | None = None
    description: str | None = None
    usage: str | None = None
    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    timeout_seconds: float | None = None
    timeout_param: str | None = None
    limits: Mapping[str, int] | None = None
    exclusive: bool | None = None
    executor_queue: str | None = None
    pickup_timeout_seconds: float | None = None
    heartbeat_seconds: float | None = None
    approval: str | Mapping[str, JsonValue] | None = None
    approval_timeout_seconds: float | None = None
    redact: Sequence[str] | None = None
    secrets: Sequence[str] | None = None
    isolated: bool = False


@dataclass(frozen=True)
class Decorated:
    """A function that `@tool` was written above."""

    function: Callable[..., Any]
    options: ToolOptions


@overload
def tool(function: Function, /) -> Function: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    usage: str | None = None,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    timeout_seconds: float | None = None,
    timeout_param: str | None = None,
    limits: Mapping[str, int] | None = None,
    exclusive: bool | None = None,
    executor_queue: str | None = None,
    pickup_timeout_seconds: float | None = None,
    heartbeat_seconds: float | None = None,
    approval: str | Mapping[str, JsonValue] | None = None,
    approval_timeout_seconds: float | None = None,
    redact: Sequence[str] | None = None,
    secrets: Sequence[str] | None = None,
    isolated: bool = False,
) -> Callable[[Function], Function]: ...


def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a tool. It stays the function that it is: only agents call it by the contract.

    The docstring tells the model what it does, the signature what it takes: docs/tools.md. Options are the
    fields of a manifest; `isolated` runs every call in a process of its own, which can be killed. Nothing is
    checked here, so that `surefoot tools check` can name everything that is wrong at once.
    """
    if unknown := sorted(options.keys() - {field.name for field in fields(ToolOptions)}):
        raise TypeError(f"@tool has no option '{unknown[0]}'")
    said = ToolOptions(**options)

    def record(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(function, _RECORD, Decorated(function, said))
        return function

    return record if function is None else record(function)


def decorated(value: object) -> Decorated | None:
    """Give what `@tool` said of a function, or of the function that a decorator above it wraps."""
    # Without calling anything of the value's own: a module may hold proxies that raise when they are touched.
    record = inspect.getattr_static(value.__func__ if inspect.ismethod(value) else value, _RECORD, None)
    if not isinstance(record, Decorated) or not callable(value):
        return None
    # `functools.wraps` copies the record; what is called is the function with all that is around it.
    return replace(record, function=value)
