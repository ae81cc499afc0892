"""The slices of a run's state that reducers keep, and what a reducer and its state must be."""

import inspect
import re
from collections.abc import Iterator
from typing import cast

from pydantic import Field, JsonValue

from surefoot.reducer import EVERY_EVENT, Reducer
from surefoot.sizes import MAX_SLICE_BYTES, count
from surefoot.strict_json import encode_json, strict_json
from surefoot.wire import WireModel

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Slice(WireModel):
    """What a reducer has made of the events so far."""

    state: JsonValue = None
    events: int = Field(default=0, ge=0)
    """How many events the reducer was called for."""
    errors: int = Field(default=0, ge=0)
    """How many of them left the state as it was, for the reducer failed."""
    last_error: str | None = None


def state_json(value: object) -> str:
    """Give a value as the JSON text of a state.

    Raises:
        TypeError, ValueError: it is no JSON, or too large; and whatever an object of another type raises.
    """
    text = encode_json(cast(JsonValue, value))
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_SLICE_BYTES:
        raise ValueError(f"the state is {size:,} bytes as JSON, above the limit of {count(MAX_SLICE_BYTES)}")
    strict_json(text)
    return text


def flaws_of(reducer: Reducer) -> Iterator[str]:
    """Say in a phrase each what is wrong with a reducer, but for its initial state."""
    if not _NAME.fullmatch(reducer.name):
        yield f"the name {reducer.name!r} must be 1 to 64 letters, digits, '_' and '-'"
    if inspect.iscoroutinefunction(reducer.function) or inspect.isgeneratorfunction(reducer.function):
        yield "must be a plain function: it is called in a workflow, and gives the new state at once"
    if not _takes_two(reducer):
        yield "must take two arguments, the state and the event"
    if not reducer.on or any(event not in EVERY_EVENT for event in reducer.on):
        yield "'on' must name ToolInvoked, ToolFailed or both"


def _takes_two(reducer: Reducer) -> bool:
    try:
        inspect.signature(reducer.function).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        # Written in another language; nobody knows what it takes.
        return True
    return True
