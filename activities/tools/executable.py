"""One run of an executable as a tool: `tool '<params as JSON>'`."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from activities.tools.capture import Captures
from activities.tools.child_process import ChildProcess
from activities.tools.start_failure import start_failure

MAX_ARGUMENT_BYTES = 100 * 1024
"""Larger params go to stdin: Linux refuses an argument of more than 131,071 bytes."""


@dataclass(frozen=True)
class Exited:
    """It ended by itself; killed by signal n is 128+n."""

    exit_code: int


@dataclass(frozen=True)
class TimedOut:
    """It was still running at its deadline and was killed with its whole process group."""


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
    timeout: timedelta,  # noqa: ASYNC109 - past it the process is killed, which no caller's timeout would do
    environment: Mapping[str, str],
    directory: Path,
    captures: Captures,
) -> Ending:
    """Run the executable to its end, at the latest to its deadline; its output is in `captures` as it comes.

    Params of more than 100 KB go to stdin, with `-` in their place. `environment` is all that it is given.
    A cancellation stops it in the same way as the deadline, and then passes through.
    """
    arguments, stdin = _command_line(executable, params_json.encode())
    try:
        child = ChildProcess(
            arguments,
            stdin=stdin,
            environment=environment,
            directory=directory,
            captures=captures,
        )
    except OSError as error:
        return NotStarted(*start_failure(error, executable=executable, directory=directory))
    deadline = asyncio.get_running_loop().call_later(timeout.total_seconds(), child.stop)
    try:
        exit_code = await child.wait()
    finally:
        deadline.cancel()
    return TimedOut() if child.stopped else Exited(exit_code)


def _command_line(executable: Path, params: bytes) -> tuple[list[bytes], bytes | None]:
    # Absolute, for the tool starts in another directory.
    program = os.fsencode(executable.absolute())
    if len(params) > MAX_ARGUMENT_BYTES:
        return [program, b"-"], params
    return [program, params], None
