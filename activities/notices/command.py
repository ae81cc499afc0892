"""Notices to a command of the user's."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from activities.notices.notify import NotDeliveredError
from activities.tools.capture import Captures, StreamCapture
from activities.tools.command import Command
from activities.tools.environment import passed_on
from activities.tools.executable import Exited, NotStarted, TimedOut, run_command

_TIMEOUT = timedelta(seconds=10)
_SHOWN_BYTES = 512


@dataclass(frozen=True)
class ByCommand:
    """A program and its arguments; it reads each notice from stdin, as one line of JSON."""

    arguments: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    """The worker's own, of which the program sees what tools see."""

    async def tell(self, document: bytes) -> None:
        """Run the program for one notice; nothing of it lives on afterwards.

        Raises:
            NotDeliveredError: it could not be started, took too long, or did not exit with 0.
        """
        name, *rest = self.arguments
        found = self._find(name)
        command = Command(
            [os.fsencode(found), *map(os.fsencode, rest)],
            environment=passed_on(self.environment),
            directory=self.directory,
            stdin=document + b"\n",
        )
        captures = Captures(StreamCapture(_SHOWN_BYTES), StreamCapture(_SHOWN_BYTES))
        match await run_command(found, command, timeout=_TIMEOUT, captures=captures):
            case Exited(exit_code=0):
                return
            case Exited(exit_code=exit_code):
                said = captures.stderr.shown(_SHOWN_BYTES).strip()
                reason = f"'{name}' exited with {exit_code}{': ' if said else ''}{said}"
                raise NotDeliveredError(reason, final=False)
            case TimedOut():
                reason = f"'{name}' took longer than {_TIMEOUT.total_seconds():g}s"
                raise NotDeliveredError(reason, final=False)
            case NotStarted(reason=reason):
                raise NotDeliveredError(f"'{name}' could not be started: {reason}", final=True)

    def _find(self, name: str) -> Path:
        # A relative path is the worker's, as everything in its settings is.
        found = shutil.which(name, path=self.environment.get("PATH"))
        if found is None:
            raise NotDeliveredError(f"there is no program '{name}' that can be started", final=True)
        return Path(found).absolute()
