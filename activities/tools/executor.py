"""Runs a tool call on this machine: the registry's executable, once, to an outcome."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from activities.interface import Capture, ToolCallInput
from activities.tools.artifacts import Artifacts
from activities.tools.capture import Captures, StreamCapture
from activities.tools.discovery import DiskTool
from activities.tools.environment import tool_environment
from activities.tools.executable import Exited, NotStarted, TimedOut, execute
from surefoot.definition import CaptureLimits, ToolDefinition
from surefoot.failures import (
    Captured,
    crashed,
    not_found_on_executor,
    not_started,
    output_too_large,
    timed_out,
)
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.reply import parse_reply
from surefoot.strict_json import encode_json

_READ_AT_ONCE_BYTES = 64 * 1024
"""An answer of up to this size is read within some milliseconds."""


@dataclass(frozen=True)
class ToolExecutor:
    """The tools that this worker can run, and what it runs them with."""

    tools: Mapping[str, DiskTool]
    directory: Path
    """The working directory of every call."""
    environment: Mapping[str, str]
    """The worker's environment; a tool sees only the allow-listed part of it."""
    artifacts: Artifacts | None = None
    """Where what is too large for the model is kept; without it, an answer is given whole."""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, compare=False)

    def definition(self, tool: str) -> ToolDefinition | None:
        """Give the definition of a tool of this executor."""
        found = self.tools.get(tool)
        return found.definition if found is not None else None

    async def run(
        self, call: ToolCallInput, *, watch: Callable[[Callable[[], Capture]], None] = lambda _: None
    ) -> ToolSuccess | ToolFailure:
        """Run one call to its outcome; `watch` is given, once, a way to read what was captured so far.

        An answer counts as it was printed: stdout above the cap is OUTPUT_TOO_LARGE even where the same JSON
        would be shorter without its escapes and indentation.

        Raises:
            CancelledError: the call was cancelled; its processes are gone.
        """
        tool = self.tools.get(call.tool)
        if tool is None or tool.executable is None:
            return not_found_on_executor(call.tool)
        limits = tool.definition.limits
        captures = Captures(StreamCapture(limits.stdout), StreamCapture(limits.stderr))
        watch(lambda: _capture(captures, limits))
        if self.artifacts is None:
            return await self._outcome(tool, tool.executable, call, captures, {})
        clock = asyncio.get_running_loop().time
        keep_until = clock() + call.timeout_seconds + self.artifacts.grace_seconds
        async with self.artifacts.of_call(call.call_id) as left:
            outcome = await self._outcome(tool, tool.executable, call, captures, left.environment)
            if isinstance(outcome, ToolFailure):
                return outcome
            return await left.whole(outcome, limit_bytes=limits.result, patience_seconds=keep_until - clock())

    async def _outcome(
        self,
        tool: DiskTool,
        executable: Path,
        call: ToolCallInput,
        captures: Captures,
        more_environment: Mapping[str, str],
    ) -> ToolSuccess | ToolFailure:
        timeout = timedelta(seconds=call.timeout_seconds)
        environment = tool_environment(self.environment, call_id=call.call_id, timeout=timeout)
        ending = await execute(
            executable,
            encode_json(call.params),
            timeout=timeout,
            environment={**environment, **more_environment},
            directory=self.directory,
            captures=captures,
        )
        if captures.stdout.total_bytes <= _READ_AT_ONCE_BYTES:
            return _outcome(tool.definition, ending, captures, timeout)
        # The largest answers take 0.2 s each: dozens that end together would silence all other calls.
        async with self._reading:
            return await asyncio.to_thread(_outcome, tool.definition, ending, captures, timeout)


def _outcome(
    definition: ToolDefinition,
    ending: Exited | TimedOut | NotStarted,
    captures: Captures,
    timeout: timedelta,
) -> ToolSuccess | ToolFailure:
    tool, limits = definition.name, definition.limits
    captured = Captured(captures.stdout.shown(limits.stdout), captures.stderr.shown(limits.stderr))
    match ending:
        case NotStarted(exit_code=exit_code, reason=reason):
            return not_started(tool, exit_code, reason)
        case TimedOut():
            return timed_out(tool, timeout, captured)
        case Exited(exit_code=exit_code) if exit_code != 0:
            return crashed(tool, exit_code, captured)
        case Exited():
            pass
    answer = captures.stdout.whole()
    if answer is None:
        return output_too_large(tool, captured, size_bytes=captures.stdout.total_bytes, exit_code=0)
    return parse_reply(
        tool,
        exit_code=0,
        stdout=answer,
        stderr=captured.stderr,
        captured=captured,
        output_schema=definition.output_schema,
    )


def _capture(captures: Captures, limits: CaptureLimits) -> Capture:
    return Capture(stdout=captures.stdout.shown(limits.stdout), stderr=captures.stderr.shown(limits.stderr))
