"""Pipes to and from a child process that the event loop serves without ever waiting for the other end."""

import asyncio
import fcntl
import os
import sys
import termios
from typing import IO, Protocol

CHUNK_BYTES = 64 * 1024
"""Moved at most before the event loop has its turn again, so that a flood starves nobody."""


class Sink(Protocol):
    """Takes what a pipe brings."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; none at all are the pipe's end."""
        ...


class PipeReader:
    """Moves what arrives in a pipe into a sink until the pipe ends or is closed."""

    def __init__(self, pipe: IO[bytes], sink: Sink) -> None:
        """Take over the pipe and read from it in the running event loop."""
        self._pipe = pipe
        self._sink = sink
        self._loop = asyncio.get_running_loop()
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_reader(pipe.fileno(), self._read, CHUNK_BYTES)

    def drain(self) -> None:
        """Take what is in the pipe now; another process that still writes is not waited for."""
        waiting_bytes = 0 if self._pipe.closed else _waiting_bytes(self._pipe)
        while waiting_bytes > 0:
            taken_bytes = self._read(min(waiting_bytes, CHUNK_BYTES))
            if taken_bytes == 0:
                return
            waiting_bytes -= taken_bytes

    def close(self) -> None:
        """Let go of the pipe; what is still in it is lost."""
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()

    def _read(self, size_bytes: int) -> int:
        try:
            chunk = os.read(self._pipe.fileno(), size_bytes)
        except BlockingIOError:
            return 0
        self._sink.feed(chunk)
        if not chunk:
            self.close()
        return len(chunk)


class PipeWriter:
    """Moves bytes into a pipe as the other end takes them, then closes it."""

    def __init__(self, pipe: IO[bytes], content: bytes) -> None:
        """Take over the pipe and write to it in the running event loop."""
        self._pipe = pipe
        self._left = memoryview(content)
        self._loop = asyncio.get_running_loop()
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_writer(pipe.fileno(), self._write)

    def close(self) -> None:
        """Let go of the pipe; what was not yet written never will be."""
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()

    def _write(self) -> None:
        try:
            written_bytes = os.write(self._pipe.fileno(), self._left[:CHUNK_BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:
            # The tool does not want to read its params: that is for its answer to tell.
            self.close()
            return
        self._left = self._left[written_bytes:]
        if not self._left:
            self.close()


def _waiting_bytes(pipe: IO[bytes]) -> int:
    return int.from_bytes(fcntl.ioctl(pipe.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)
