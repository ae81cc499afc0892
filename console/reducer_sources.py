"""What `--reducers` takes, and the reducers that it stands for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from console.errors import CommandError
from surefoot.reducer import Reducer
from workers.reducers import find_reducers, reducer_source

ReducersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reducers",
        metavar="SOURCE",
        help="A Python FILE.py with reducers, or module:attribute; can be repeated.",
    ),
]


@dataclass(frozen=True)
class GivenReducers:
    """The reducers of a command, and the sources that they come from, good in every directory."""

    sources: tuple[str, ...] = ()
    reducers: tuple[Reducer, ...] = ()


NO_REDUCERS = GivenReducers()


def load_reducers(values: Sequence[str] | None) -> GivenReducers:
    """Load every reducer of these sources.

    Raises:
        CommandError: lists everything that is wrong, one problem a line.
    """
    if any(not value.strip() for value in values or ()):
        raise CommandError("--reducers is empty, and needs a Python file or module:attribute")
    sources = tuple(dict.fromkeys(str(reducer_source(value)) for value in values or ()))
    found = find_reducers(sources)
    if found.problems:
        raise CommandError("\n".join(str(problem) for problem in found.problems))
    return GivenReducers(sources, found.reducers)
