"""A tool held by its process group: all that there is outside Linux, and what detaches from it lives on."""

import os
import signal
from contextlib import suppress
from subprocess import Popen

from activities.tools.command import Command


class ProcessGroup:
    """A running tool with the processes of its group."""

    exceeded: None = None
    """Nobody looks at what it uses."""

    def __init__(self, command: Command) -> None:
        """Start it; it leads a session and a group of its own.

        Raises:
            OSError: it could not be started.
        """
        self.process: Popen[bytes] = command.start()

    def is_over(self) -> bool:
        """Whether the tool itself has ended; where the platform can, it is told without reaping it."""
        if self.process.returncode is not None or not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def terminate(self) -> None:
        """Ask the group to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the group."""
        self._signal(signal.SIGKILL)

    def release(self) -> int:
        """Kill what is left of the group and give the tool's exit code: 128+n when signal n killed it."""
        # Before it is reaped: until then its number cannot belong to another group.
        self._signal(signal.SIGKILL)
        exit_code = self.process.poll()
        if exit_code is None:
            # It hangs in the kernel and dies when that lets it; `subprocess` reaps it then.
            exit_code = -signal.SIGKILL
        return exit_code if exit_code >= 0 else 128 - exit_code

    def _signal(self, number: signal.Signals) -> None:
        # Empty by now, or (macOS) holding nothing but zombies.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)
