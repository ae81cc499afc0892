"""Runs a tool call on this machine: the registry's tool, of whatever kind, once, to an outcome."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Protocol, TypeVar

from activities.interface import Capture, ToolCallInput
from activities.tools.artifacts import Artifacts
from activities.tools.environment import tool_environment
from activities.tools.held import Held
from activities.tools.sandbox.level import Level
from activities.tools.sandbox.places import NO_PLACES, Places
from activities.tools.sandbox.sandbox import UNCONFINED, Sandbox
from activities.tools.sandbox.tool_files import files_of, is_executable
from activities.tools.secrets.secrets import NO_SECRETS, Secrets
from activities.tools.secrets.source import SecretSource
from activities.tools.workspaces import WorkspaceError, Workspaces
from surefoot.definition import ToolDefinition
from surefoot.failures import not_found_on_executor, not_started
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import json_bytes

_READ_AT_ONCE_BYTES = 64 * 1024
"""An answer of up to this size is read within some milliseconds."""

Watch = Callable[[Callable[[], Capture]], None]
"""Is given, once, a way to read what was captured so far."""

Read = TypeVar("Read")


@dataclass(frozen=True)
class Surroundings:
    """What one call is run with."""

    directory: Path
    """The working directory."""
    environment: Mapping[str, str]
    """All that a process of the call is given."""
    watch: Watch
    reading: asyncio.Lock = field(repr=False)
    """Held while a large answer of any call is read."""
    held: Held = field(repr=False)
    """What outlasts the call, and ends with its executor."""
    sandbox: Sandbox = UNCONFINED
    """What an executable of the call is walled in by."""
    places: Places = NO_PLACES
    """What it sees of the file system beside its directory, its system and its interpreter."""
    secrets: Secrets = NO_SECRETS
    """What a tool's own configuration may refer to."""
    params_hold_secrets: bool = False
    """Whether the params are for no eyes but the tool's."""

    async def read(self, read: Callable[[], Read], *, size_bytes: int) -> Read:
        """Read an answer of this size, a large one beside the event loop.

        The largest answers take 0.2 s each: dozens that end together would silence all other calls.
        """
        if size_bytes <= _READ_AT_ONCE_BYTES:
            return read()
        async with self.reading:
            return await asyncio.to_thread(read)


class Tool(Protocol):
    """A tool of any kind, as an executor runs it."""

    @property
    def definition(self) -> ToolDefinition:
        """What the model sees, and how its calls are run."""
        ...

    @property
    def origin(self) -> str:
        """Where its author finds it: a file, a file and a line, a server."""
        ...

    async def run(self, call: ToolCallInput, surroundings: Surroundings) -> ToolSuccess | ToolFailure:
        """Run one call to its outcome, at the latest at its `timeout_seconds`.

        Params fit the definition's inputSchema. An answer is held against caps and outputSchema by
        `check_answer`; only how much of it the model is shown is the executor's business.

        Raises:
            CancelledError: the call was cancelled, and nothing of it goes on that can be stopped. Nothing
                else is raised.
        """
        ...


@dataclass(frozen=True)
class ToolExecutor:
    """The tools that this worker can run, and what it runs them with."""

    tools: Mapping[str, Tool]
    directory: Path
    """The working directory of every call."""
    environment: Mapping[str, str]
    """The worker's environment; a tool sees only the allow-listed part of it."""
    artifacts: Artifacts | None = None
    """Where what is too large for the model is kept; without it, an answer is given whole."""
    sandbox: Sandbox = UNCONFINED
    """What the executables among the tools are walled in by."""
    workspaces: Workspaces | None = None
    """Where the calls of each run work; without them, all do in `directory`."""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, compare=False)
    _held: Held = field(default_factory=Held, init=False, compare=False)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions in the order of their names."""
        return tuple(tool.definition for _, tool in sorted(self.tools.items()))

    def definition(self, tool: str) -> ToolDefinition | None:
        """Give the definition of a tool of this executor."""
        found = self.tools.get(tool)
        return found.definition if found is not None else None

    def level(self, tool: str) -> Level | None:
        """Give the level that an executable runs at; None for a tool of another kind, which has no walls."""
        return self.sandbox.level if is_executable(self.tools.get(tool)) else None

    async def run(self, call: ToolCallInput, *, watch: Watch = lambda _: None) -> ToolSuccess | ToolFailure:
        """Run one call to its outcome; `watch` is given, once, a way to read what was captured so far.

        Raises:
            CancelledError: the call was cancelled; its processes are gone.
        """
        tool = self.tools.get(call.tool)
        if tool is None:
            return not_found_on_executor(call.tool)
        try:
            directory = await self.directory_of(call.call_id.rpartition("/")[0])
        except WorkspaceError as error:
            return not_started(call.tool, None, str(error))
        source = SecretSource.of(self.environment)
        secrets = Secrets(source.read())
        given = secrets.put_into(call, tool.definition)
        if isinstance(given, ToolFailure):
            return given
        hide = secrets.scrubber
        surroundings = self._surroundings(call, lambda capture: watch(lambda: hide.capture(capture())))
        surroundings = replace(
            surroundings,
            directory=directory,
            secrets=secrets,
            params_hold_secrets=given is not call,
            sandbox=replace(self.sandbox, hidden=(*self.sandbox.hidden, *source.directories)),
        )
        if self.artifacts is None:
            return await _without_secrets(await tool.run(given, surroundings), surroundings)
        clock = asyncio.get_running_loop().time
        keep_until = clock() + call.timeout_seconds + self.artifacts.grace_seconds
        async with self.artifacts.of_call(call.call_id, hide.data) as left:
            environment = {**surroundings.environment, **left.environment}
            places = replace(surroundings.places, read=left.readable, write=left.writable)
            surroundings = replace(surroundings, environment=environment, places=places)
            outcome = await _without_secrets(await tool.run(given, surroundings), surroundings)
            if isinstance(outcome, ToolFailure):
                return outcome
            limit_bytes = tool.definition.limits.result
            return await left.whole(outcome, limit_bytes=limit_bytes, patience_seconds=keep_until - clock())

    async def directory_of(self, workflow_id: str) -> Path:
        """Give the working directory of a run's calls, made where there was none.

        Raises:
            WorkspaceError: it cannot be made.
        """
        return self.directory if self.workspaces is None else await self.workspaces.of(workflow_id)

    async def close(self) -> None:
        """End what its tools keep open from call to call; when no call is made any more."""
        await self._held.close()

    def _surroundings(self, call: ToolCallInput, watch: Watch) -> Surroundings:
        timeout = timedelta(seconds=call.timeout_seconds)
        environment = tool_environment(self.environment, call_id=call.call_id, timeout=timeout)
        return Surroundings(
            self.directory,
            environment,
            watch,
            self._reading,
            self._held,
            sandbox=self.sandbox,
            places=Places(kept=self._files),
        )

    @cached_property
    def _files(self) -> tuple[Path, ...]:
        return files_of(self.tools.values())


async def _without_secrets(
    outcome: ToolSuccess | ToolFailure, surroundings: Surroundings
) -> ToolSuccess | ToolFailure:
    hide = surroundings.secrets.scrubber
    size_bytes = json_bytes(outcome.result) if hide and isinstance(outcome, ToolSuccess) else 0
    return await surroundings.read(partial(hide.outcome, outcome), size_bytes=size_bytes)
