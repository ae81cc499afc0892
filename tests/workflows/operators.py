"""What an operator does to a run, for tests."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue
from temporalio.client import WorkflowHandle

from surefoot.run import (
    CANCEL_TOOL_CALL_UPDATE,
    PAUSE_UPDATE,
    RAISE_LIMIT_UPDATE,
    RESUME_UPDATE,
    SEND_MESSAGE_UPDATE,
    CancelToolCall,
    Pause,
    RaiseLimit,
    Resume,
    SendMessage,
)
from tests.workflows.agents import events_of


async def cancel_call(run: WorkflowHandle[Any, Any], tool_exec_id: str) -> None:
    """Cancel one call as an operator does."""
    await update(run, CANCEL_TOOL_CALL_UPDATE, CancelToolCall(tool_exec_id=tool_exec_id))


async def send(run: WorkflowHandle[Any, Any], text: str, sender: str | None = None) -> None:
    """Tell the run's model something, as a user does."""
    await update(run, SEND_MESSAGE_UPDATE, SendMessage(text=text, sender=sender))


async def pause(run: WorkflowHandle[Any, Any], reason: str | None = None, sender: str | None = None) -> None:
    """Pause the run."""
    await update(run, PAUSE_UPDATE, Pause(reason=reason, sender=sender))


async def resume(run: WorkflowHandle[Any, Any], sender: str | None = None) -> None:
    """Let the run go on."""
    await update(run, RESUME_UPDATE, Resume(sender=sender))


async def raise_limits(run: WorkflowHandle[Any, Any], limits: Mapping[str, JsonValue], **more: str) -> None:
    """Raise limits of the run."""
    await update(run, RAISE_LIMIT_UPDATE, RaiseLimit(limits=limits, **more))


async def update(run: WorkflowHandle[Any, Any], name: str, *arguments: object) -> None:
    """Have the run take an update, or raise why it does not."""
    # The SDK's overloads leave type arguments open.
    await run.execute_update(name, args=arguments)  # pyright: ignore[reportUnknownMemberType]


async def until_scheduled(run: WorkflowHandle[Any, Any], tool_exec_id: str) -> None:
    """Wait until the ledger names this call."""
    while not any(getattr(event, "tool_exec_id", None) == tool_exec_id for event in await events_of(run)):  # noqa: ASYNC110  another process
        await asyncio.sleep(0.01)
