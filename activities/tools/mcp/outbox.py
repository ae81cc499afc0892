"""Bytes that wait for a process to read its stdin."""

import asyncio
import os
from collections.abc import Callable
from typing import IO

MAX_WAITING_BYTES = 32 * 1024 * 1024
"""What a server may leave unread before it counts as one that has stopped to read."""


class Outbox:
    """Writes to a pipe as the other end takes it; nobody ever waits for that."""

    def __init__(
        self, pipe: IO[bytes], *, on_stuck: Callable[[], None], on_closed: Callable[[], None]
    ) -> None:
        """Take over the pipe in the running event loop.

        `on_stuck` is called when too much waits, `on_closed` when the other end was closed.
        """
        self._pipe = pipe
        self._on_stuck = on_stuck
        self._on_closed = on_closed
        self._waiting = bytearray()
        self._loop = asyncio.get_running_loop()
        os.set_blocking(pipe.fileno(), False)

    def put(self, data: bytes) -> None:
        """Have these bytes written, behind all others; once it is closed, they are dropped."""
        if self._pipe.closed:
            return
        if not self._waiting:
            self._loop.add_writer(self._pipe.fileno(), self._write)
        self._waiting += data
        if len(self._waiting) > MAX_WAITING_BYTES:
            self._on_stuck()

    def close(self) -> None:
        """Close the pipe: its reader sees the end. What still waits is dropped."""
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()
        self._waiting.clear()

    def _write(self) -> None:
        try:
            written_bytes = os.write(self._pipe.fileno(), self._waiting[: 64 * 1024])
        except BlockingIOError:
            return
        except OSError:
            self.close()
            self._on_closed()
            return
        del self._waiting[:written_bytes]
        if not self._waiting:
            self._loop.remove_writer(self._pipe.fileno())
