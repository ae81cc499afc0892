"""Reducers over the ledger of a run in a test."""

from collections.abc import Iterable, Mapping, Sequence

from surefoot.events import Event
from surefoot.reducer import Reduce, Reducer, recorded_reducer
from surefoot.slices import Slice, flaws_of
from workflows.slices import Slices


def slices_of(events: Iterable[Event], functions: Sequence[Reduce]) -> Mapping[str, Slice]:
    """Give what reducers make of a ledger, as a run's worker does.

    Raises:
        ValueError: one of them is no reducer, or cannot be used.
    """
    slices = Slices([_usable(function) for function in functions])
    for event in events:
        slices.add(event)
    return slices.told()


def _usable(function: Reduce) -> Reducer:
    reducer = recorded_reducer(function)
    if reducer is None:
        raise ValueError(f"{function!r} has no @reducer above it")
    if flaws := [*flaws_of(reducer)]:
        raise ValueError(f"{reducer.name}: {flaws[0]}")
    return reducer
