"""A child process that the event loop watches, and that ends with everything in its group."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from activities.tools.capture import Captures, StreamCapture
from activities.tools.pipes import PipeReader, PipeWriter
from activities.tools.process_exit import watch_exit

STOP_GRACE_SECONDS = 0.5
"""How long a process may go on after SIGTERM, to write down what it was doing."""

KILL_GRACE_SECONDS = 1.0
"""How long a killed process may take to be gone; one that hangs in the kernel can take for ever."""


class ChildProcess:
    """A running process in a session and group of its own; its output goes to captures as it comes."""

    def __init__(
        self,
        arguments: Sequence[bytes],
        *,
        stdin: bytes | None,
        environment: Mapping[str, str],
        directory: Path,
        captures: Captures,
    ) -> None:
        """Start it in the running event loop; without `stdin` it reads /dev/null.

        Raises:
            OSError: it could not be started.
        """
        self._loop = asyncio.get_running_loop()
        self._process = Popen(
            arguments,
            bufsize=0,
            stdin=DEVNULL if stdin is None else PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
        self.stopped = False
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._readers = _readers(self._process, captures)
        self._writer = _writer(self._process, stdin)
        self._end_watch = watch_exit(self._process, self._end)

    async def wait(self) -> int:
        """Wait until it is over and give its exit code: 128+n when signal n killed it.

        Output that other processes still hold open is not waited for, and none of the group survives. When
        the waiting task is cancelled the process is stopped first, then the cancellation passes through.
        """
        try:
            await asyncio.wait({self._ended})
        except asyncio.CancelledError:
            self.stop()
            await self._outlast_cancellation()
            raise
        return self._ended.result()

    def stop(self) -> None:
        """End it and its group: SIGTERM, a short grace, SIGKILL. One that is over stays as it is."""
        if self.stopped or self._ended.done():
            return
        self.stopped = True
        self._signal(signal.SIGTERM)
        self._timer = self._loop.call_later(STOP_GRACE_SECONDS, self._kill)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._timer = self._loop.call_later(KILL_GRACE_SECONDS, self._end)

    def _end(self) -> None:
        for reader in self._readers:
            reader.drain()
        # Before it is reaped: until then its number cannot belong to another group.
        self._signal(signal.SIGKILL)
        self._let_go()
        exit_code = self._process.poll()
        if exit_code is None:
            # It hangs in the kernel and dies when that lets it; `subprocess` reaps it then.
            exit_code = -signal.SIGKILL
        self._ended.set_result(exit_code if exit_code >= 0 else 128 - exit_code)

    def _let_go(self) -> None:
        self._end_watch()
        if self._timer is not None:
            self._timer.cancel()
        for reader in self._readers:
            reader.close()
        if self._writer is not None:
            self._writer.close()

    def _signal(self, number: signal.Signals) -> None:
        # Empty by now, or (macOS) holding nothing but zombies.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _outlast_cancellation(self) -> None:
        # Bounded by the graces: a second cancellation must not leave a process behind.
        while not self._ended.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({self._ended})


def _readers(process: Popen[bytes], captures: Captures) -> list[PipeReader]:
    streams: list[StreamCapture] = [captures.stdout, captures.stderr]
    pipes = [process.stdout, process.stderr]
    return [PipeReader(pipe, stream) for pipe, stream in zip(pipes, streams, strict=True) if pipe is not None]


def _writer(process: Popen[bytes], content: bytes | None) -> PipeWriter | None:
    return PipeWriter(process.stdin, content) if process.stdin is not None and content is not None else None
