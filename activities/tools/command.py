"""What is to be started for a tool call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from activities.tools.sandbox.confinement import UNWALLED, Confinement


@dataclass(frozen=True)
class Command:
    """An executable with its arguments, and all that it is given."""

    arguments: Sequence[bytes]
    environment: Mapping[str, str]
    directory: Path
    stdin: bytes | None = None
    """What it reads; without it, /dev/null."""
    confinement: Confinement = UNWALLED
    """What is taken away from it, where there is a supervisor that can."""

    def start(self, *before: str, descriptors: Sequence[int] = ()) -> Popen[bytes]:
        """Start it in a session of its own, behind the arguments `before` if they are given.

        Raises:
            OSError: it could not be started; `filename` is what was missing.
        """
        return Popen(
            [*before, *self.arguments],
            bufsize=0,
            stdin=DEVNULL if self.stdin is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=self.directory,
            env=self.environment,
            pass_fds=descriptors,
            start_new_session=True,
        )
