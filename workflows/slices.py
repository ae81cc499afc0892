"""Carries out reducers: each call's events change the slices of state that a run keeps for them."""

import asyncio
import json
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pydantic import JsonValue
from temporalio import workflow

from surefoot.events import (
    ApprovalGiven,
    Event,
    ModelReplied,
    ToolExecutionCompleted,
    ToolExecutionFailed,
)
from surefoot.reducer import Reducer
from surefoot.session import SessionEvent
from surefoot.session_events import session_events
from surefoot.sizes import MAX_KEPT_SLICES, MAX_SLICES_BYTES, count
from surefoot.slices import Slice, state_json
from surefoot.strict_json import encode_json
from surefoot.truncation import truncate

_MAX_ERROR_BYTES = 512


@dataclass(frozen=True)
class _Kept:
    """A slice, its state as text: each call of a reducer gets a copy, and what it gives is measured."""

    text: str
    size_bytes: int
    events: int = 0
    errors: int = 0
    last_error: str | None = None

    @classmethod
    def of(cls, one: Slice) -> "_Kept":
        text = encode_json(one.state)
        return cls(text, _size(text), one.events, one.errors, one.last_error)

    def told(self) -> Slice:
        state = json.loads(self.text)
        return Slice(state=state, events=self.events, errors=self.errors, last_error=self.last_error)

    def failed(self, error: BaseException) -> "_Kept":
        (*_, said) = traceback.format_exception_only(error)
        told = truncate(said.strip().encode("utf-8", "replace").decode(), _MAX_ERROR_BYTES).text
        return replace(self, events=self.events + 1, errors=self.errors + 1, last_error=told)


class Slices:
    """The slices of one run; nothing that a reducer does reaches the run itself."""

    def __init__(self, reducers: Sequence[Reducer] = ()) -> None:
        self._reducers: tuple[Reducer, ...] = ()
        self._kept: dict[str, _Kept] = {}
        self._params: dict[str, JsonValue] = {}
        self.use(reducers)

    def use(self, reducers: Sequence[Reducer]) -> None:
        """Have these reducers take the events from now on; a new one begins with its initial state."""
        self._reducers = tuple(reducers)
        for reducer in self._reducers:
            text = state_json(reducer.initial)
            self._kept.setdefault(reducer.name, _Kept(text, _size(text)))

    def go_on(self, carried: Mapping[str, Slice]) -> None:
        """Go on with the slices of the run before this one in its chain."""
        self._kept |= {name: _Kept.of(one) for name, one in carried.items()}

    def add(self, event: Event) -> None:
        """Take an event of the ledger, in its order: calls count in the order in which they end."""
        match event:
            case ModelReplied(tool_calls=calls):
                self._params = {call.id: call.params for call in calls}
            case ApprovalGiven(call_id=call_id, params=dict() as edited):
                self._params[call_id] = edited
            case ToolExecutionCompleted() | ToolExecutionFailed() if self._reducers:
                for told in session_events(event, self._params):
                    for reducer in self._reducers:
                        if isinstance(told, reducer.on):
                            self._reduce(reducer, told)
            case _:
                pass

    def told(self) -> dict[str, Slice]:
        """Give all slices by the names of their reducers, also of those that are gone."""
        return {name: kept.told() for name, kept in self._kept.items()}

    def carried(self) -> dict[str, Slice]:
        """Give what the next run of the chain takes along: a slice whose reducer is gone if there is room."""
        names = [reducer.name for reducer in self._reducers]
        room = MAX_SLICES_BYTES - sum(self._kept[name].size_bytes for name in names)
        for name in [name for name in self._kept if name not in names]:
            room -= self._kept[name].size_bytes
            if room >= 0 and len(names) < MAX_KEPT_SLICES:
                names.append(name)
        return {name: self._kept[name].told() for name in names}

    def _reduce(self, reducer: Reducer, event: SessionEvent) -> None:
        before = self._kept[reducer.name]
        try:
            with _apart_from_the_run():
                text = state_json(reducer.function(json.loads(before.text), event))
            size = self._fitting(reducer.name, text)
        # A user's code: a mistake in it must neither fail the run that it looks at nor cancel a call of it.
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001
            self._kept[reducer.name] = before.failed(error)
            # Whoever reads an old run has slices of its ledger made outside of any workflow.
            if not before.errors and workflow.in_workflow():
                workflow.logger.warning("reducer failed", extra={"slice": reducer.name}, exc_info=error)
        else:
            after = replace(before, text=text, size_bytes=size, events=before.events + 1)
            self._kept[reducer.name] = after

    def _fitting(self, name: str, text: str) -> int:
        size = _size(text)
        others = sum(kept.size_bytes for other, kept in self._kept.items() if other != name)
        if others + size > MAX_SLICES_BYTES:
            limit = count(MAX_SLICES_BYTES)
            raise ValueError(f"the states of all slices would be above the limit of {limit}")
        return size


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


def _size(text: str) -> int:
    return len(text.encode())
