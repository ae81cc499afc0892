"""One run of an executable as a tool: `tool '<params as JSON>'`."""

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from activities.tools.capture import Captures
from activities.tools.child_process import ChildProcess, Leash
from activities.tools.command import Command
from activities.tools.process_group import ProcessGroup
from activities.tools.sandbox.confinement import UNWALLED, Confinement
from activities.tools.start_failure import CANNOT_EXECUTE, start_failure
from activities.tools.supervised import NotConfinedError, Supervised

MAX_ARGUMENT_BYTES = 100 * 1024
"""Larger params go to stdin: Linux refuses an argument of more than 131,071 bytes."""

_REASON_BYTES = 512

LEASH: Callable[[Command], Leash] = {"linux": Supervised}.get(sys.platform, ProcessGroup)
"""What a tool is started on here: only Linux has what a supervisor needs."""


@dataclass(frozen=True)
class Exited:
    """It ended by itself; killed by signal n is 128+n."""

    exit_code: int


@dataclass(frozen=True)
class TimedOut:
    """It was still running at its deadline and was killed with all that it had started."""


@dataclass(frozen=True)
class NotStarted:
    """It never ran: 126 for a file that cannot be executed, 127 for something that is missing."""

    exit_code: int
    reason: str


Ending = Exited | TimedOut | NotStarted


async def execute(
    executable: Path,
    params_json: str,
    *,
    before_params: Sequence[str] = (),
    hide_params: bool = False,
    timeout: timedelta,  # noqa: ASYNC109 - past it the process is killed, which no caller's timeout would do
    environment: Mapping[str, str],
    directory: Path,
    captures: Captures,
    confinement: Confinement = UNWALLED,
    leash: Callable[[Command], Leash] = LEASH,
) -> Ending:
    """Run the executable to its end, at the latest to its deadline; its output is in `captures` as it comes.

    `before_params` are arguments that come first. Params of more than 100 KB go to stdin, with `-` in their
    place, and so do those that hold a secret: every process of the machine may read what stands in a command
    line. `environment` is all that it is given.
    However it ends, what it has started ends with it. A cancellation stops it in the same way as the
    deadline, and then passes through.
    """
    arguments, stdin = _command_line(executable, before_params, params_json.encode(), hide=hide_params)
    command = Command(arguments, environment, directory, stdin=stdin, confinement=confinement)
    return await run_command(executable, command, timeout=timeout, captures=captures, leash=leash)


async def run_command(
    executable: Path,
    command: Command,
    *,
    timeout: timedelta,  # noqa: ASYNC109 - as above
    captures: Captures,
    leash: Callable[[Command], Leash] = LEASH,
) -> Ending:
    """Run a command, whose first argument is the executable, as `execute` does."""
    try:
        child = ChildProcess(leash(command), stdin=command.stdin, captures=captures)
        deadline = asyncio.get_running_loop().call_later(timeout.total_seconds(), child.stop)
        try:
            exit_code = await child.wait()
        finally:
            deadline.cancel()
    except NotConfinedError:
        said = captures.stderr.shown(_REASON_BYTES).strip()
        return NotStarted(
            CANNOT_EXECUTE, f"its sandbox could not be set up: {said or 'its supervisor ended'}"
        )
    except OSError as error:
        return NotStarted(*start_failure(error, executable=executable, directory=command.directory))
    return TimedOut() if child.stopped else Exited(exit_code)


def _command_line(
    executable: Path, before: Sequence[str], params: bytes, *, hide: bool
) -> tuple[list[bytes], bytes | None]:
    # Absolute, for the tool starts in another directory.
    program = [os.fsencode(executable.absolute()), *map(os.fsencode, before)]
    if hide or len(params) > MAX_ARGUMENT_BYTES:
        return [*program, b"-"], params
    return [*program, params], None
