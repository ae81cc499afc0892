"""One call of a tool on the command line, made as a run makes it."""

import asyncio
import secrets
import signal
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.tools.artifacts import Artifacts
from activities.tools.discovery import Discovery
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool, ToolExecutor
from console.errors import CommandError
from console.stored_artifacts import store_or_complain
from surefoot.admission import Admitted, Refused, admit
from surefoot.conversation import ToolCall
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import NotStrictJsonError, strict_json
from workers.child_signals import keep_exit_codes
from workers.environment import process_environment

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
        CommandError: the tool runs on another queue, and not here.
    """
    (decision,) = admit([ToolCall(id="1", tool=tool.definition.name, params=params)], found.definitions)
    match decision:
        case Refused(failure=failure):
            return failure
        case Admitted() if isinstance(tool, DiskTool) and tool.executable is None:
            raise CommandError(
                f"'{tool.definition.name}' has no executable here: it runs on the task queue "
                f"'{tool.definition.executor_queue}'"
            )
        case Admitted():
            keep_exit_codes()
            artifacts = Artifacts(store_or_complain())
            executor = ToolExecutor(found.tools, directory, process_environment(), artifacts)
            return asyncio.run(_run(executor, decision))


async def _run(executor: ToolExecutor, call: Admitted) -> ToolSuccess | ToolFailure | None:
    running = asyncio.create_task(
        executor.run(
            ToolCallInput(
                tool=call.definition.name,
                params=call.params,
                # Unlike any other call's: tools may know by it what they did before.
                call_id=f"tools-call-{secrets.token_hex(4)}/1-1",
                timeout_seconds=call.timeout.total_seconds(),
            )
        )
    )
    # The tool has a session of its own: no signal from the terminal reaches it but through this.
    for number in _SIGNALS:
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    with suppress(asyncio.CancelledError):
        return await running
    return None


def _hint(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=3)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"the tools are: {', '.join(known)}" if known else "there are no tools"
