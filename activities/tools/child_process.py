"""A tool that the event loop watches, and that ends with everything that it has started."""

import asyncio
from contextlib import suppress
from subprocess import Popen
from typing import Protocol

from activities.tools.pipes import PipeReader, PipeWriter, Sink
from activities.tools.process_exit import watch_exit

STOP_GRACE_SECONDS = 0.5
"""How long a tool may go on after SIGTERM, to write down what it was doing."""

KILL_GRACE_SECONDS = 1.0
"""How long what was killed may take to be gone; a process that hangs in the kernel can take for ever."""

ABANDON_GRACE_SECONDS = 0.1
"""How long the process that is waited for may take to be gone once it was killed by its number."""


class Outputs(Protocol):
    """What takes both output streams of a tool."""

    @property
    def stdout(self) -> Sink:
        """What takes its answer."""
        ...

    @property
    def stderr(self) -> Sink:
        """What takes everything else."""
        ...


class Leash(Protocol):
    """What holds a running tool together with the processes that it starts."""

    @property
    def process(self) -> Popen[bytes]:
        """The process with the tool's pipes; when it is over, so is the call."""
        ...

    @property
    def exceeded(self) -> str | None:
        """The limit for which the tool was killed, in a phrase; known once it is released."""
        ...

    def is_over(self) -> bool:
        """Whether the tool has ended by itself, be it that nobody has noticed yet."""
        ...

    def terminate(self) -> None:
        """Ask everything that is held to end."""
        ...

    def kill(self) -> None:
        """Kill everything that is held."""
        ...

    def release(self) -> int:
        """Kill what is left and give the tool's exit code, 128+n when signal n killed it; called once.

        Raises:
            OSError: it never ran.
        """
        ...


class ChildProcess:
    """A running tool on its leash; its output goes to sinks as it comes."""

    def __init__(self, leash: Leash, *, stdin: bytes | None, captures: Outputs) -> None:
        """Take over what was just started, in the running event loop; without `stdin`, but for its stdin."""
        self._loop = asyncio.get_running_loop()
        self._leash = leash
        self.stopped = False
        self._stopping = False
        self._ended: asyncio.Future[int | OSError] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._stderr = captures.stderr
        self._readers = _readers(leash.process, captures)
        self._writer = _writer(leash.process, stdin)
        self._end_watch = watch_exit(leash.process, self._end)

    async def wait(self) -> int:
        """Wait until it is over and give its exit code: 128+n when signal n killed it.

        Output that other processes still hold open is not waited for. When the waiting task is cancelled, the
        tool is stopped first, then the cancellation passes through.

        Raises:
            OSError: it never ran.
        """
        try:
            await asyncio.wait({self._ended})
        except asyncio.CancelledError:
            self.stop()
            await self._outlast_cancellation()
            raise
        ending = self._ended.result()
        if isinstance(ending, OSError):
            raise ending
        return ending

    def stop(self) -> None:
        """End it with all that it started: SIGTERM, a short grace, SIGKILL.

        One that has ended by itself counts as such, even if the event loop was too busy to notice.
        """
        if self._stopping or self._ended.done():
            return
        self._stopping = True
        self.stopped = not self._leash.is_over()
        self._leash.terminate()
        self._timer = self._loop.call_later(STOP_GRACE_SECONDS, self._kill)

    def _kill(self) -> None:
        self._leash.kill()
        self._timer = self._loop.call_later(KILL_GRACE_SECONDS, self._abandon)

    def _abandon(self) -> None:
        # It hangs in the kernel, or a supervisor does not do its work.
        self._leash.process.kill()
        self._timer = self._loop.call_later(ABANDON_GRACE_SECONDS, self._end)

    def _end(self) -> None:
        try:
            ending: int | OSError = self._leash.release()
        except OSError as error:
            ending = error
        for reader in self._readers:
            reader.drain()
        self._let_go()
        if self._leash.exceeded is not None:
            self._stderr.feed(f"Killed: {self._leash.exceeded}\n".encode())
        self._ended.set_result(ending)

    def _let_go(self) -> None:
        self._end_watch()
        if self._timer is not None:
            self._timer.cancel()
        for reader in self._readers:
            reader.close()
        if self._writer is not None:
            self._writer.close()

    async def _outlast_cancellation(self) -> None:
        # Bounded by the graces: a second cancellation must not leave a process behind.
        while not self._ended.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({self._ended})


def _readers(process: Popen[bytes], captures: Outputs) -> list[PipeReader]:
    sinks = [captures.stdout, captures.stderr]
    pipes = [process.stdout, process.stderr]
    return [PipeReader(pipe, sink) for pipe, sink in zip(pipes, sinks, strict=True) if pipe is not None]


def _writer(process: Popen[bytes], content: bytes | None) -> PipeWriter | None:
    return PipeWriter(process.stdin, content) if process.stdin is not None and content is not None else None
