"""Spreads work over workflow tasks, each of which has two seconds before the SDK gives it up."""

import asyncio
from datetime import timedelta

from temporalio import workflow

_WEIGHT_OF_A_TASK = 8_000_000
"""Measured: about 0.25 s on an idle core, which leaves room for a slow machine under load."""

_WEIGHT_OF_A_VALUE = 100

_MOMENT = timedelta(milliseconds=1)


class Pace:
    """Lets one piece of work through at a time, and begins a new workflow task when this one had enough."""

    def __init__(self) -> None:
        self._one_at_a_time = asyncio.Lock()
        self._task = -1
        self._spent = 0

    async def take(self, json: bytes) -> None:
        """Wait until this JSON text may be worked on in the current workflow task."""
        # Many answers may arrive in one workflow task, and only a timer ends it.
        async with self._one_at_a_time:
            if self._task == _current_task() and self._spent >= _WEIGHT_OF_A_TASK:
                await workflow.sleep(_MOMENT, summary="a pause between much work")
            if self._task != _current_task():
                self._task, self._spent = _current_task(), 0
            self._spent += len(json) + _WEIGHT_OF_A_VALUE * _values(json)


def _current_task() -> int:
    return workflow.info().get_current_history_length()


def _values(json: bytes) -> int:
    """Guess the number of values from above; what looks like one within a string counts, too."""
    return json.count(b",") + json.count(b"[") + json.count(b"{")
