"""The reducers that a worker has: found by what `--reducers` takes, and checked all at once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import cast

from activities.tools.functions.loading import FunctionSource
from activities.tools.functions.modules import CannotImportError, import_file, import_module
from activities.tools.problem import Problem
from activities.tools.sources import source_of
from surefoot.reducer import Reducer, recorded_reducer
from surefoot.sizes import MAX_REDUCERS, MAX_SLICES_BYTES, count
from surefoot.slices import flaws_of, state_json

ReducerSource = FunctionSource | Path
"""`module:attribute`, or a Python file."""


@dataclass(frozen=True)
class FoundReducers:
    """The reducers that can be used, in order, and everything that is wrong."""

    reducers: tuple[Reducer, ...] = ()
    problems: tuple[Problem, ...] = ()


def reducer_source(text: str) -> ReducerSource:
    """Read what `--reducers` takes; `str` of it is taken, too, and means the same in another directory."""
    source = source_of(text)
    return source if isinstance(source, FunctionSource) else Path(text).absolute()


def find_reducers(sources: Sequence[str]) -> FoundReducers:
    """Load the reducers of these sources; nothing raises, and every problem of each is listed."""
    found: dict[int, Reducer] = {}
    problems: list[Problem] = []
    for source in sources:
        for one in _search(reducer_source(source)):
            if isinstance(one, Problem):
                problems.append(one)
            else:
                found.setdefault(id(one.function), one)
    usable = tuple(found.values())
    return FoundReducers(usable, (*problems, *_too_much(usable)))


def _search(source: ReducerSource) -> Iterator[Reducer | Problem]:
    try:
        values = _values(source)
    except CannotImportError as error:
        yield Problem(error.place, error.reason)
        return
    except AttributeError as error:
        yield Problem(_named(source), f"is not there: {error}")
        return
    for value in values:
        reducer = recorded_reducer(value)
        if reducer is None:
            yield Problem(_named(source), "is no function with @reducer above it, and no list of such")
        else:
            yield from _checked(reducer, _named(source))
    if not values:
        yield Problem(_named(source), "has no function with @reducer above it")


def _values(source: ReducerSource) -> list[object]:
    """Give what a source names; of a file, its own reducers."""
    if isinstance(source, Path):
        if not source.is_file():
            raise CannotImportError(str(source), "there is no such Python file")
        return _own(import_file(source))
    module = import_module(source.module, source.directory)
    value: object = reduce(getattr, source.attribute.split("."), cast(object, module))
    return cast("list[object]", [*value]) if isinstance(value, list | tuple) else [value]


def _own(module: ModuleType) -> list[object]:
    recorded = ((value, recorded_reducer(value)) for value in vars(module).values())
    return [value for value, one in recorded if one and one.function.__module__ == module.__name__]


def _checked(reducer: Reducer, place: str) -> Iterator[Reducer | Problem]:
    flaws = [*flaws_of(reducer)]
    try:
        state_json(reducer.initial)
    except (TypeError, ValueError, RecursionError) as error:
        flaws.append(f"cannot begin with its initial state: {error}")
    yield from (Problem(place, flaw, reducer.name) for flaw in flaws)
    if not flaws:
        yield reducer


def _too_much(reducers: Sequence[Reducer]) -> Iterator[Problem]:
    for name, times in Counter(reducer.name for reducer in reducers).items():
        if times > 1:
            yield Problem("--reducers", f"{times} reducers have this name", name)
    if len(reducers) > MAX_REDUCERS:
        yield Problem("--reducers", f"{len(reducers)} reducers are more than a run has: {MAX_REDUCERS}")
    if sum(len(state_json(reducer.initial).encode()) for reducer in reducers) > MAX_SLICES_BYTES:
        yield Problem("--reducers", f"the initial states are above the limit of {count(MAX_SLICES_BYTES)}")


def _named(source: ReducerSource) -> str:
    return str(source) if isinstance(source, Path) else f"{source.module}:{source.attribute}"
