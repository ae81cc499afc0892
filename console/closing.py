"""A run whose ledger says that it has ended, before the server knows."""

import asyncio
from contextlib import suppress
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle

from console.interrupt import Interrupt


async def closes(run: WorkflowHandle[Any, Any], interrupt: Interrupt) -> bool:
    """Wait until the run is closed; False if the command is asked to end first.

    Its worker is needed until then: it tells people of the end.
    """
    closing = asyncio.create_task(_close(run))
    try:
        await interrupt.first(closing)
        return closing.done() and closing.exception() is None
    finally:
        closing.cancel()


async def _close(run: WorkflowHandle[Any, Any]) -> None:
    with suppress(WorkflowFailureError):
        await run.result()
