"""A tool of an MCP server, as an executor runs it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from activities.interface import Capture, ToolCallInput
from activities.tools.capture import Captures, StreamCapture
from activities.tools.environment import ARTIFACTS_DIRECTORY, passed_on
from activities.tools.executor import Surroundings
from activities.tools.mcp.endings import (
    Answered,
    Broken,
    CallEnding,
    Failed,
    NotStarted,
    OutOfTime,
    Refused,
    TooLarge,
    Unreadable,
)
from activities.tools.mcp.results import outcome_of
from activities.tools.mcp.server import McpServer, Program
from surefoot.definition import CaptureLimits, ToolDefinition
from surefoot.failures import (
    Captured,
    invalid_params,
    not_started,
    output_too_large,
    raised,
    reported,
    timed_out,
    undecodable,
)
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import json_bytes
from surefoot.truncation import keep_ends

if TYPE_CHECKING:
    from activities.tools.mcp.session import Session

_INVALID_PARAMS, _METHOD_NOT_FOUND = -32602, -32601

CANCEL_SECONDS = 1.0
"""How long it may take to tell a server that nobody waits for its answer any more."""


@dataclass(frozen=True)
class McpTool:
    """One tool of a server, which has it under a name of its own."""

    definition: ToolDefinition
    server: McpServer
    name: str
    """What the server calls it."""
    seen: bool = True
    """Whether the server has described it; False for one of a server that was away."""

    @property
    def origin(self) -> str:
        """Where its author finds it: the file that names the server, and the server."""
        return self.server.origin

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        """Make the call once; `Tool.run` says how it ends."""
        limits = self.definition.limits
        captures = Captures(StreamCapture(limits.stdout), StreamCapture(limits.stderr))
        surroundings.watch(lambda: _capture(captures, limits))
        ending = await self._call(call, surroundings, captures)
        captured = Captured(captures.stdout.shown(limits.stdout), captures.stderr.shown(limits.stderr))
        match ending:
            case Answered(result=result):
                artifacts = surroundings.environment.get(ARTIFACTS_DIRECTORY)
                directory = None if artifacts is None else Path(artifacts)
                read = partial(
                    outcome_of, result, self.definition, captured, artifacts=directory, seen=self.seen
                )
                return await surroundings.read(read, size_bytes=json_bytes(result))
            case _:
                return _failure(call, ending, captured, limits)

    async def _call(self, call: ToolCallInput, surroundings: Surroundings, captures: Captures) -> CallEnding:
        clock = asyncio.get_running_loop().time
        deadline = clock() + call.timeout_seconds
        session = await self._session(call, surroundings)
        try:
            with session.overheard.by(captures):
                ending = await _within(deadline - clock(), session.call(self.name, call))
            if ending is None and not session.was_opened:
                return NotStarted(126, f"its server did not answer within {call.timeout_seconds:g}s")
            if ending is None:
                session.timed_out()
            return ending or OutOfTime()
        finally:
            if not isinstance(self.server.reached, Program):
                surroundings.held.end(session)

    async def _session(self, call: ToolCallInput, surroundings: Surroundings) -> "Session":
        """Give the session that the executor holds with a process, or one for this call alone."""
        # The SDK takes 0.7 s to be imported: only who has such a tool pays for it.
        from activities.tools.mcp.session import Session

        def open_session() -> Session:
            environment = passed_on(surroundings.environment)
            return Session(self.server, environment=environment, directory=surroundings.directory)

        if not isinstance(self.server.reached, Program):
            return open_session()
        session = surroundings.held.get(self.server, Session, open_session)
        if await session.is_stuck(patience_seconds=call.timeout_seconds / 2):
            surroundings.held.end(session)
            return surroundings.held.get(self.server, Session, open_session)
        return session


async def _within(seconds: float, call: Coroutine[None, None, CallEnding]) -> CallEnding | None:
    """Give how a call ended; None if it did not in time, and then the server is told so.

    It has a task of its own, for to tell the server may take longer than a caller has.
    """
    task = asyncio.create_task(call)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task}, timeout=CANCEL_SECONDS)
        raise
    task.cancel()
    await asyncio.wait({task}, timeout=CANCEL_SECONDS)
    return None


def _failure(
    call: ToolCallInput,
    ending: Refused | Unreadable | TooLarge | Failed | Broken | NotStarted | OutOfTime,
    captured: Captured,
    limits: CaptureLimits,
) -> ToolFailure:
    tool = call.tool
    match ending:
        case NotStarted(exit_code=exit_code, reason=reason):
            return not_started(tool, exit_code, reason)
        case OutOfTime():
            return timed_out(tool, timedelta(seconds=call.timeout_seconds), captured)
        case Broken(reason=reason):
            text = f"Tool '{tool}' was lost: {reason}; it may or may not have taken effect"
            return reported(tool, "TOOL_LOST", text, captured)
        case Failed(reason=reason):
            return raised(tool, reason, captured)
        case Refused(code=code, message=message) if code == _INVALID_PARAMS:
            return invalid_params(tool, [message])
        case Refused(code=code, message=message) if code == _METHOD_NOT_FOUND:
            text = f"Tool '{tool}' is not known to its server: {message}"
            return reported(tool, "TOOL_NOT_FOUND", text, captured)
        case Refused(code=code, message=message):
            return raised(tool, f"its server answered with the error {code}: {message}", captured)
        case TooLarge(size_bytes=size_bytes):
            return output_too_large(tool, captured, size_bytes=size_bytes)
        case Unreadable(reason=reason, text=text):
            shown = Captured(captured.stdout + keep_ends(text, limits.stdout), captured.stderr)
            return undecodable(tool, reason, shown)


def _capture(captures: Captures, limits: CaptureLimits) -> Capture:
    return Capture(stdout=captures.stdout.shown(limits.stdout), stderr=captures.stderr.shown(limits.stderr))
