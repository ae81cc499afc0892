"""Lets go of something that was started: cancels it, and gives it time to end."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

from temporalio import workflow


async def let_go(execution: "asyncio.Task[Any]", grace: timedelta) -> None:
    """Cancel an execution and wait up to the grace for its end; one that does not obey is not waited for."""
    execution.cancel()
    execution.add_done_callback(_hear)
    with suppress(asyncio.CancelledError):
        await _wait_a_while(execution, grace)
        return
    # The run was cancelled while one of its calls was: that call, too, is given the time to be killed.
    await _wait_a_while(execution, grace)


async def _wait_a_while(execution: "asyncio.Task[Any]", grace: timedelta) -> None:
    with suppress(TimeoutError):
        await workflow.wait_condition(
            execution.done, timeout=grace, timeout_summary="grace for a cancelled call"
        )


def _hear(execution: "asyncio.Task[Any]") -> None:
    """Take note of a failure that nobody waits for any more."""
    if not execution.cancelled():
        execution.exception()
