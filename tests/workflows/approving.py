"""Calls that wait for approval, and who decides about them, for tests."""

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue
from temporalio.client import WorkflowHandle
from temporalio.common import RawValue

from surefoot.events import ApprovalRequested
from surefoot.run import APPROVE_UPDATE, DENY_UPDATE
from surefoot.strict_json import strict_json
from tests.workflows.agents import events_of
from tests.workflows.operators import update


class Made:
    """A tool that takes note of the params of its calls."""

    def __init__(self) -> None:
        self.params: list[JsonValue] = []

    async def act(self, raw: RawValue) -> JsonValue:
        given = strict_json(raw.payload.data)
        assert isinstance(given, dict)
        self.params.append(given["params"])
        return "made"


async def questions(run: WorkflowHandle[Any, Any], count: int = 1) -> Sequence[ApprovalRequested]:
    """Wait until the run has asked so many questions."""
    while True:
        asked = [event for event in await events_of(run) if isinstance(event, ApprovalRequested)]
        if len(asked) >= count:
            return asked
        await asyncio.sleep(0.01)


async def approve(run: WorkflowHandle[Any, Any], question: ApprovalRequested, **more: object) -> None:
    named = {"tool_exec_id": question.tool_exec_id, "params_sha256": question.params_sha256}
    await update(run, APPROVE_UPDATE, {**named, **more})


async def deny(run: WorkflowHandle[Any, Any], question: ApprovalRequested, **more: object) -> None:
    named = {"tool_exec_id": question.tool_exec_id, "params_sha256": question.params_sha256}
    await update(run, DENY_UPDATE, {**named, "reason": "Not on my watch.", **more})
