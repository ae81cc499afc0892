"""A tool on disk: an executable beside its manifest, run as a process of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from activities.interface import Capture, ToolCallInput
from activities.tools.capture import Captures, StreamCapture
from activities.tools.executable import Exited, NotStarted, TimedOut, execute
from activities.tools.executor import Surroundings
from activities.tools.sandbox.sandbox import UNCONFINED, Sandbox
from activities.tools.sandbox.walls import Walls
from activities.tools.secrets.secrets import SecretMissingError
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

_CANNOT_START = 126


@dataclass(frozen=True)
class DiskTool:
    """A tool that was found; `executable` is None where only another queue's executor has one."""

    definition: ToolDefinition
    manifest: Path
    executable: Path | None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """More variables for it, which may refer to secrets."""

    @property
    def origin(self) -> str:
        """Where its author finds it: its manifest."""
        return str(self.manifest)

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        """Run the executable once; `Tool.run` says how it ends."""
        if self.executable is None:
            return not_found_on_executor(call.tool)
        try:
            own = surroundings.secrets.environment(self.environment)
        except SecretMissingError as error:
            return not_started(call.tool, _CANNOT_START, str(error))
        given = replace(surroundings, environment={**surroundings.environment, **own})
        return await run_executable(
            self.executable, call, given, definition=self.definition, sandbox=surroundings.sandbox
        )


async def run_executable(
    executable: Path,
    call: ToolCallInput,
    surroundings: Surroundings,
    *,
    definition: ToolDefinition,
    before_params: tuple[str, ...] = (),
    sandbox: Sandbox = UNCONFINED,
) -> ToolSuccess | ToolFailure:
    """Run an executable for a call, with these arguments before its params, to the outcome.

    What it may use of its machine is limited in any case; walls around it are the sandbox's.

    An answer counts as it was printed: stdout above the cap is OUTPUT_TOO_LARGE even where the same JSON
    would be shorter without its escapes and indentation.

    Raises:
        CancelledError: the call was cancelled; its processes are gone.
    """
    limits = definition.limits
    captures = Captures(StreamCapture(limits.stdout), StreamCapture(limits.stderr))
    surroundings.watch(lambda: _capture(captures, limits))
    timeout = timedelta(seconds=call.timeout_seconds)
    walls = Walls(
        sandbox,
        executable,
        directory=surroundings.directory,
        environment=surroundings.environment,
        places=surroundings.places,
        resources=definition.resources,
        network=may_have_network(call, definition),
    )
    async with walls.stand() as walled:
        ending = await execute(
            executable,
            encode_json(call.params),
            before_params=before_params,
            hide_params=surroundings.params_hold_secrets,
            timeout=timeout,
            environment=walled.environment,
            directory=surroundings.directory,
            captures=captures,
            confinement=walled.confinement,
        )
    read = partial(_outcome, definition, ending, captures, timeout)
    return await surroundings.read(read, size_bytes=captures.stdout.total_bytes)


def may_have_network(call: ToolCallInput, definition: ToolDefinition) -> bool:
    """Tell whether the walls let the network through: what the run says of it, else the tool's own hint."""
    return definition.annotations.open_world_hint is True if call.network is None else call.network


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
