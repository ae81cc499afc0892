"""A pure function over the events of a run's tool calls, and the slice of state that it keeps."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from surefoot.session import SessionEvent, ToolFailed, ToolInvoked

_RECORD = "__surefoot_reducer__"

Reduce = Callable[[Any, Any], Any]
Function = TypeVar("Function", bound=Reduce)

EVERY_EVENT: tuple[type[SessionEvent], ...] = (ToolInvoked, ToolFailed)


@dataclass(frozen=True)
class Reducer:
    """What `@reducer` said of a function."""

    name: str
    function: Reduce
    initial: Any
    on: tuple[type[SessionEvent], ...]


def reducer(
    name: str,
    *,
    initial: object = None,
    on: type[SessionEvent] | tuple[type[SessionEvent], ...] = EVERY_EVENT,
) -> Callable[[Function], Function]:
    """Have a function keep a slice of a run's state: it is given the state and an event, and gives the next.

    The state is JSON, `initial` at first, and a copy that may be changed and returned. `on` names the events
    that the function is called for: ToolInvoked, ToolFailed, or both. It must depend on nothing else: a run
    that is replayed calls it again. Nothing is checked here, but when a worker loads it.
    """

    def record(function: Function) -> Function:
        events = on if isinstance(on, tuple) else (on,)
        setattr(function, _RECORD, Reducer(name, function, initial, events))
        return function

    return record


def recorded_reducer(value: object) -> Reducer | None:
    """Give what `@reducer` said of a function; None for anything else."""
    record = inspect.getattr_static(value, _RECORD, None)
    return record if isinstance(record, Reducer) else None
