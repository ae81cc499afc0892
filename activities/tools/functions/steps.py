"""An async function that is looked at while it runs: who holds the event loop, holds up every other call."""

import time
import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

LONGEST_STEP_SECONDS = 1.0
"""How long a function may go on between two awaits; heartbeats of all other calls wait for it."""


@types.coroutine
def watched(
    coroutine: Coroutine[Any, Any, Any], complain: Callable[[float], None]
) -> Generator[Any, Any, Any]:
    """Await a coroutine; `complain` is given the seconds of every step that was too long, once it is over."""
    sent: Any = None
    thrown: BaseException | None = None
    while True:
        began = time.monotonic()
        try:
            waits_for = coroutine.send(sent) if thrown is None else coroutine.throw(thrown)
        except StopIteration as end:
            return end.value
        finally:
            if (took := time.monotonic() - began) > LONGEST_STEP_SECONDS:
                complain(took)
        try:
            sent, thrown = (yield waits_for), None
        except BaseException as error:  # noqa: BLE001  it is the coroutine's to catch
            sent, thrown = None, error
