"""One call of a tool on the command line, made as a run makes it."""

import asyncio
import signal
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from pydantic import JsonValue

from activities.tools.artifacts import Artifacts
from activities.tools.discovery import Discovery
from activities.tools.executor import Tool
from console.entry import sandbox_or_complain, settings_or_complain
from console.errors import CommandError
from console.stored_artifacts import store_or_complain
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import NotStrictJsonError, strict_json
from workers.child_signals import keep_exit_codes
from workers.local_calls import LocalCalls, runs_here

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def find_tool(found: Discovery, name: str) -> Tool:
    """Give the tool of a name.

    Raises:
        CommandError: there is none; it names the closest ones.
    """
    tool = found.tools.get(name)
    if tool is None:
        raise CommandError(f"there is no tool '{name}'; {_hint(name, sorted(found.tools))}")
    return tool


def read_params(text: str | bytes) -> JsonValue:
    """Read params as a run would read them.

    Raises:
        CommandError: they are not one strict JSON value.
    """
    try:
        return strict_json(text)
    except NotStrictJsonError as error:
        raise CommandError(f"the params are not JSON: {error}") from None


def call_tool(
    found: Discovery, tool: Tool, params: JsonValue, *, directory: Path
) -> ToolSuccess | ToolFailure | None:
    """Make one call, admission included; None if it was interrupted, and then nothing of it lives on.

    Raises:
        CommandError: the tool does not run on this machine.
    """
    if not runs_here(tool):
        raise CommandError(_elsewhere(tool))
    keep_exit_codes()
    calls = LocalCalls(
        found.tools,
        directory=directory,
        artifacts=Artifacts(store_or_complain()),
        kind="tools-call",
        sandbox=sandbox_or_complain(settings_or_complain()),
    )
    return asyncio.run(_call(calls, tool.definition.name, params))


async def _call(calls: LocalCalls, name: str, params: JsonValue) -> ToolSuccess | ToolFailure | None:
    running = asyncio.create_task(calls.call(name, params))
    # The tool has a session of its own: no signal from the terminal reaches it but through this.
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    try:
        with suppress(asyncio.CancelledError):
            return await running
    finally:
        await calls.close()
    return None


def _elsewhere(tool: Tool) -> str:
    name, queue = tool.definition.name, tool.definition.executor_queue
    if tool.definition.agent is not None:
        return f"'{name}' is an agent, which only a run can call"
    return f"'{name}' has no executable here: it runs on the task queue '{queue}'"


def _hint(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=3)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"the tools are: {', '.join(known)}" if known else "there are no tools"
