"""A tool held by a supervisor: nothing of it outlives its call or its worker, however it detaches (Linux)."""

import os
import signal
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from subprocess import Popen

from activities.tools.child_process import STOP_GRACE_SECONDS
from activities.tools.command import Command
from activities.tools.environment import CALL_ID
from activities.tools.supervisor_processes import kill_all, processes

PACKAGES = Path(__file__).parents[2]
"""Where the packages of Surefoot are; the supervisor needs `activities` of them."""

# A module is compiled once, and a script at each start.
_PROGRAM = (
    f"import sys; sys.path.append({str(PACKAGES)!r}); from activities.tools import supervisor; "
    "supervisor.end_with(supervisor.main(sys.argv[1:]))"
)

SUPERVISOR = (sys.executable, "-IS", "-X", "utf8", "-c", _PROGRAM)
"""Nothing of the tool's environment changes the supervisor, and any argument passes through it unchanged."""

_MAX_STATUS_BYTES = 1024


class NotConfinedError(OSError):
    """What was to be taken away from a tool could not be; it never ran, and its stderr says why."""


class Supervised:
    """A running tool with everything that it has started."""

    def __init__(self, command: Command) -> None:
        """Start it below a supervisor of its own.

        Raises:
            OSError: the supervisor could not be started. Whether the tool could, `release` tells.
        """
        with ExitStack() as on_return, ExitStack() as on_error:
            lifeline, self._lifeline = os.pipe()
            on_return.callback(os.close, lifeline)
            on_error.callback(os.close, self._lifeline)
            self._status, status = os.pipe()
            on_return.callback(os.close, status)
            on_error.callback(os.close, self._status)
            os.set_blocking(self._status, False)
            confinement = command.confinement
            self.process: Popen[bytes] = command.start(
                *(*confinement.before, *SUPERVISOR),
                *(str(lifeline), str(status), str(STOP_GRACE_SECONDS), confinement.policy_json()),
                descriptors=(lifeline, status),
            )
            on_error.pop_all()
        self._told = b""
        call_id = command.environment.get(CALL_ID)
        self._mark = None if call_id is None else os.fsencode(f"{CALL_ID}={call_id}")

    @property
    def exceeded(self) -> str | None:
        """The limit for which it was killed, in a phrase."""
        for line in self._lines():
            if line.startswith(b"exceeded "):
                return line.removeprefix(b"exceeded ").decode()
        return None

    def is_over(self) -> bool:
        """Whether the tool itself has ended, although what it left behind may still be dying."""
        self._listen()
        return len(self._lines()) > 1 or self.process.poll() is not None

    def terminate(self) -> None:
        """Ask everything to end; what has not done so after the grace is killed."""
        with suppress(BrokenPipeError):
            os.write(self._lifeline, b"T")
        # The tool may have stopped its supervisor.
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill everything."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def release(self) -> int:
        """Kill what is left and give the tool's exit code: 128+n when signal n killed it.

        A supervisor that was killed took the tool with it: then its exit code is given, and who was orphaned
        is looked for.

        Raises:
            NotConfinedError: nothing was started, because nothing could be taken away from it.
            OSError: the tool could not be started.
        """
        self.kill()
        self._listen()
        os.close(self._status)
        exit_code = self.process.poll()
        if exit_code != 0:
            kill_all(self._orphans)
        match [line.split() for line in self._lines()]:
            case [] if exit_code is not None and exit_code > 0:
                raise NotConfinedError
            case [_, [b"failed", number, *_], *_]:
                raise OSError(int(number), os.strerror(int(number)))
            case [_, [b"exited", code, *_], *_]:
                return int(code)
            case _ if exit_code:
                return exit_code if exit_code > 0 else 128 - exit_code
            case _:
                return 128 + signal.SIGKILL

    def _listen(self) -> None:
        with suppress(BlockingIOError):
            self._told += os.read(self._status, _MAX_STATUS_BYTES)

    def _lines(self) -> list[bytes]:
        """What the supervisor has said: that it began, then how it ended."""
        return self._told.splitlines()

    def _orphans(self) -> set[int]:
        """Who is left without a supervisor: of its session, or with the mark of the call."""
        return {
            process.id
            for process in processes()
            if process.session == self.process.pid or self._has_mark(process.id)
        }

    def _has_mark(self, process: int) -> bool:
        try:
            return self._mark in Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except OSError:
            return False
