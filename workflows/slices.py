"""Carries out reducers: each call's events change the slices of state that a run keeps for them."""

import asyncio
import json
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from pydantic import JsonValue
from temporalio import workflow

from surefoot.ledger import Event, ModelReplied, ToolExecutionCompleted, ToolExecutionFailed
from surefoot.reducer import Reducer
from surefoot.session import SessionEvent
from surefoot.session_events import session_events
from surefoot.sizes import MAX_KEPT_SLICES, MAX_SLICES_BYTES, count
from surefoot.slices import Slice, state_of
from surefoot.strict_json import encode_json, json_bytes
from surefoot.truncation import truncate

_MAX_ERROR_BYTES = 512


class Slices:
    """The slices of one run; nothing that a reducer does reaches the run itself."""

    def __init__(self, reducers: Sequence[Reducer] = ()) -> None:
        self._reducers: tuple[Reducer, ...] = ()
        self._slices: dict[str, Slice] = {}
        self._sizes: dict[str, int] = {}
        self._params: dict[str, JsonValue] = {}
        self.use(reducers)

    def use(self, reducers: Sequence[Reducer]) -> None:
        """Have these reducers take the events from now on; each begins with its initial state."""
        self._reducers = tuple(reducers)
        for reducer in self._reducers:
            if reducer.name not in self._slices:
                self._keep(reducer.name, Slice(state=state_of(reducer.initial)))

    def go_on(self, carried: Mapping[str, Slice]) -> None:
        """Go on with the slices of the run before this one in its chain."""
        for name, one in carried.items():
            self._keep(name, one)

    def add(self, event: Event) -> None:
        """Take an event of the ledger, in its order: calls count in the order in which they end."""
        match event:
            case ModelReplied(tool_calls=calls):
                self._params = {call.id: call.params for call in calls}
            case ToolExecutionCompleted() | ToolExecutionFailed() if self._reducers:
                for told in session_events(event, self._params):
                    for reducer in self._reducers:
                        if isinstance(told, reducer.on):
                            self._reduce(reducer, told)
            case _:
                pass

    def told(self) -> dict[str, Slice]:
        """Give all slices by the names of their reducers, also of those that are gone."""
        return dict(self._slices)

    def carried(self) -> dict[str, Slice]:
        """Give what the next run of the chain takes along: a slice whose reducer is gone if there is room."""
        own = [reducer.name for reducer in self._reducers]
        gone = [name for name in self._slices if name not in own]
        names, room = own, MAX_SLICES_BYTES - sum(self._sizes[name] for name in own)
        for name in gone:
            room -= self._sizes[name]
            if room >= 0 and len(names) < MAX_KEPT_SLICES:
                names = [*names, name]
        return {name: self._slices[name] for name in names}

    def _reduce(self, reducer: Reducer, event: SessionEvent) -> None:
        before = self._slices[reducer.name]
        counted = before.model_copy(update={"events": before.events + 1})
        try:
            with _apart_from_the_run():
                state = state_of(reducer.function(_copy(before.state), event))
            self._check_room(reducer.name, state)
        except Exception as error:  # noqa: BLE001  a user's code, and a mistake in it must not fail the run
            self._keep(reducer.name, _after(error, counted))
            # Whoever reads an old run has slices of its ledger made outside of any workflow.
            if not before.errors and workflow.in_workflow():
                workflow.logger.warning("reducer failed", extra={"slice": reducer.name}, exc_info=error)
        else:
            self._keep(reducer.name, counted.model_copy(update={"state": state}))

    def _check_room(self, name: str, state: JsonValue) -> None:
        others = sum(size for other, size in self._sizes.items() if other != name)
        if others + json_bytes(state) > MAX_SLICES_BYTES:
            limit = count(MAX_SLICES_BYTES)
            raise ValueError(f"the states of all slices would be above the limit of {limit}")

    def _keep(self, name: str, one: Slice) -> None:
        self._slices[name] = one
        self._sizes[name] = json_bytes(one.state)


@contextmanager
def _apart_from_the_run() -> Generator[None]:
    """Leave the workflow's loop for a moment: what Temporal or asyncio is asked for there raises.

    A reducer that started an activity or a task would change what the run does, and break its replay.
    """
    loop = asyncio._get_running_loop()  # noqa: SLF001  None where there is none
    asyncio._set_running_loop(None)  # noqa: SLF001  in `asyncio.events.__all__`, for what runs loops
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)  # noqa: SLF001


def _after(error: Exception, counted: Slice) -> Slice:
    (*_, said) = traceback.format_exception_only(error)
    told = truncate(said.strip().encode("utf-8", "replace").decode(), _MAX_ERROR_BYTES).text
    return counted.model_copy(update={"errors": counted.errors + 1, "last_error": told})


def _copy(state: JsonValue) -> JsonValue:
    return json.loads(encode_json(state))
