"""The process of an MCP server, held so that nothing of it outlives its session or its worker."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from activities.tools.child_process import ChildProcess
from activities.tools.command import Command
from activities.tools.executable import LEASH
from activities.tools.mcp.endings import CannotStartError
from activities.tools.mcp.exchange import Exchange
from activities.tools.mcp.lines import Lines
from activities.tools.mcp.outbox import Outbox
from activities.tools.mcp.overheard import Overheard
from activities.tools.mcp.server import Program
from activities.tools.start_failure import CANNOT_EXECUTE, NOT_FOUND, start_failure

EXIT_GRACE_SECONDS = 0.5
"""How long a server may go on after its stdin was closed, before it gets SIGTERM."""


@dataclass(frozen=True)
class _Outputs:
    stdout: Lines
    stderr: Overheard


class ServerProcess:
    """A server that was started, and what is exchanged with it."""

    def __init__(self, executable: Path, command: Command, overheard: Overheard) -> None:
        """Start it.

        Raises:
            OSError: its supervisor could not be started, or its working directory not be entered.
        """
        self._executable = executable
        self._directory = command.directory
        self._overheard = overheard
        self._broken: str | None = None
        leash = LEASH(command)
        stdin = leash.process.stdin
        assert stdin is not None, "a command with stdin has a pipe"  # noqa: S101  for the type alone
        self._outbox = Outbox(
            stdin,
            on_stuck=lambda: self._give_up("stopped reading what it was sent"),
            on_closed=lambda: self._soon_give_up("closed its stdin"),
        )
        self.exchange = Exchange(
            self._outbox, overheard, on_flood=lambda: self._give_up("sent more than can be read")
        )
        lines = Lines(
            on_line=self.exchange.take_line,
            on_overlong=self.exchange.take_overlong,
            on_end=lambda: self._soon_give_up("closed its stdout"),
        )
        self._child = ChildProcess(leash, stdin=None, captures=_Outputs(lines, overheard))
        self._over = asyncio.create_task(self._child.wait())
        self.ended = asyncio.create_task(self._end())
        """Done when it is over, and all that it had said has been read."""

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._over.done()

    async def how_it_ended(self) -> str:
        """Wait for its end and tell, in words that follow its name, what it was."""
        await asyncio.wait({self.ended})
        if self._broken is not None:
            return self._broken
        if (code := self._over.result()) > 128:
            return f"was killed by signal {code - 128}"
        return f"exited with code {code}"

    async def why_not_started(self) -> CannotStartError:
        """Wait for its end and tell why it gave no session."""
        await asyncio.wait({self.ended})
        if isinstance(error := self._over.exception(), OSError):
            exit_code, reason = start_failure(error, executable=self._executable, directory=self._directory)
            return CannotStartError(reason, exit_code=exit_code)
        said = f": {self._overheard.beginning}" if self._overheard.beginning else ""
        return CannotStartError(f"its server {await self.how_it_ended()} before it answered{said}")

    async def close(self) -> None:
        """End it as the protocol has it: its stdin is closed, then comes SIGTERM, then SIGKILL."""
        self._outbox.close()
        await asyncio.wait({self.ended}, timeout=EXIT_GRACE_SECONDS)
        self._child.stop()
        await asyncio.wait({self.ended})

    def kill(self) -> None:
        """End it without waiting."""
        self._child.stop()

    def _give_up(self, reason: str) -> None:
        self._broken = self._broken or reason
        self._child.stop()

    def _soon_give_up(self, reason: str) -> None:
        # Most often it is ending: then its exit code says more.
        def unless_over() -> None:
            if not self._over.done():
                self._give_up(reason)

        asyncio.get_running_loop().call_later(EXIT_GRACE_SECONDS, unless_over)

    async def _end(self) -> None:
        await asyncio.wait({self._over})
        self._outbox.close()
        await self.exchange.end()


@asynccontextmanager
async def started(
    program: Program, *, environment: Mapping[str, str], directory: Path, overheard: Overheard
) -> AsyncGenerator[ServerProcess]:
    """Have a server's process, and nothing of it when this is over; `environment` is what every tool gets.

    Raises:
        CannotStartError: it could not be started, as far as that is known already.
    """
    given = {**environment, **program.environment}
    where = directory if program.directory is None else Path(program.directory)
    executable = _executable(program.command, given, where)
    arguments = [os.fsencode(executable), *map(os.fsencode, program.arguments)]
    command = Command(arguments, environment=given, directory=where, stdin=b"")
    try:
        process = ServerProcess(executable, command, overheard)
    except OSError as error:
        exit_code, reason = start_failure(error, executable=executable, directory=where)
        raise CannotStartError(reason, exit_code=exit_code) from None
    except ValueError as error:
        raise CannotStartError(f"its command line or its environment holds a {error}") from None
    try:
        yield process
    finally:
        try:
            await process.close()
        finally:
            process.kill()


def _executable(command: str, environment: Mapping[str, str], directory: Path) -> Path:
    if "/" in command:
        return (directory / command).absolute()
    found = shutil.which(command, path=environment.get("PATH", os.defpath))
    if found is None:
        raise CannotStartError(f"there is no command '{command}' in its PATH", exit_code=NOT_FOUND)
    path = Path(found)
    if not path.is_absolute():
        raise CannotStartError(
            f"'{command}' is in a relative directory of its PATH", exit_code=CANNOT_EXECUTE
        )
    return path
