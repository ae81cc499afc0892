"""What an operator does to a run, for tests."""

import asyncio
from typing import Any

from temporalio.client import WorkflowHandle

from surefoot.run import CANCEL_TOOL_CALL_UPDATE, SEND_MESSAGE_UPDATE, CancelToolCall, SendMessage
from tests.workflows.agents import events_of


async def cancel_call(run: WorkflowHandle[Any, Any], tool_exec_id: str) -> None:
    """Cancel one call as an operator does."""
    await update(run, CANCEL_TOOL_CALL_UPDATE, CancelToolCall(tool_exec_id=tool_exec_id))


async def send(run: WorkflowHandle[Any, Any], text: str, sender: str | None = None) -> None:
    """Tell the run's model something, as a user does."""
    await update(run, SEND_MESSAGE_UPDATE, SendMessage(text=text, sender=sender))


async def update(run: WorkflowHandle[Any, Any], name: str, argument: object) -> None:
    """Have the run take an update, or raise why it does not."""
    # The SDK's overloads leave type arguments open.
    await run.execute_update(name, argument)  # pyright: ignore[reportUnknownMemberType]


async def until_scheduled(run: WorkflowHandle[Any, Any], tool_exec_id: str) -> None:
    """Wait until the ledger names this call."""
    while not any(getattr(event, "tool_exec_id", None) == tool_exec_id for event in await events_of(run)):  # noqa: ASYNC110  another process
        await asyncio.sleep(0.01)
