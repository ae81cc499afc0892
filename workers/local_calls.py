"""Calls of tools on this machine that no workflow makes, checked and ended as a run's are."""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.tools.artifacts import Artifacts
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool, ToolExecutor
from activities.tools.sandbox.sandbox import UNCONFINED, Sandbox
from surefoot.admission import Admitted, Refused, admit
from surefoot.conversation import ToolCall
from surefoot.definition import ToolDefinition
from surefoot.outcome import ToolFailure, ToolSuccess
from workers.environment import process_environment

MAX_CALLS = 32
"""How many calls are made side by side, as in a run."""


def runs_here(tool: Tool) -> bool:
    """Tell whether a tool is one that this machine can run: no other queue's, and no agent."""
    elsewhere = isinstance(tool, DiskTool) and tool.executable is None
    return tool.definition.agent is None and not elsewhere


class LocalCalls:
    """The tools that can be called; exclusive ones never run beside each other."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        directory: Path,
        artifacts: Artifacts | None,
        kind: str,
        sandbox: Sandbox = UNCONFINED,
    ) -> None:
        """`kind` is what the ids of these calls begin with."""
        self._executor = ToolExecutor(tools, directory, process_environment(), artifacts, sandbox)
        # One for all of them: a tool reads the artifacts of its own run.
        self._run_id = f"{kind}-{secrets.token_hex(4)}"
        self._made = 0
        self._exclusive = asyncio.Lock()
        self._room = asyncio.Semaphore(MAX_CALLS)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions in the order of their names."""
        return self._executor.definitions

    async def call(self, tool: str, params: JsonValue) -> ToolSuccess | ToolFailure:
        """Make one call, admission included, once there is room for it.

        Raises:
            CancelledError: the call was cancelled; nothing of it lives on.
        """
        (decision,) = admit([ToolCall(id="1", tool=tool, params=params)], self.definitions)
        match decision:
            case Refused(failure=failure):
                return failure
            case Admitted():
                return await self._run(decision)

    async def close(self) -> None:
        """End what the tools keep open from call to call."""
        await self._executor.close()

    async def _run(self, call: Admitted) -> ToolSuccess | ToolFailure:
        async with AsyncExitStack() as turn:
            if call.definition.exclusive:
                await turn.enter_async_context(self._exclusive)
            await turn.enter_async_context(self._room)
            self._made += 1
            return await self._executor.run(
                ToolCallInput(
                    tool=call.definition.name,
                    params=call.params,
                    # Unlike any other call's: tools may know by it what they did before.
                    call_id=f"{self._run_id}/1-{self._made}",
                    timeout_seconds=call.timeout.total_seconds(),
                )
            )
