"""This process's stdin and stdout, line by line and without blocking the event loop.

Threads read and write, because both can be files, pipes and terminals. They are daemons: one that waits for
whoever is at the other end keeps no command from ending.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO, Generic, TypeVar

Line = TypeVar("Line")


class Lines(Generic[Line]):
    """The lines of stdin as they come, each of them read; nobody else reads there any more."""

    def __init__(self, read: Callable[[bytes | None], Line], *, max_line_bytes: int) -> None:
        """`read` runs beside the event loop, on each line with its end, or None for one that is too long."""
        self._loop = asyncio.get_running_loop()
        self._read_line, self._max_line_bytes = read, max_line_bytes
        # One at a time: whoever writes faster than is read here has to wait.
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue(1)
        threading.Thread(target=self._read, args=(_take_stdin(),), daemon=True).start()

    async def next(self) -> Line | None:
        """Give the next line; None at the end."""
        return await self._lines.get()

    def _read(self, descriptor: int) -> None:
        # The event loop may be closed by now.
        with suppress(RuntimeError), os.fdopen(descriptor, "rb") as file:
            while line := file.readline(self._max_line_bytes):
                fits = line.endswith(b"\n") or len(line) < self._max_line_bytes
                if not fits:
                    _skip_line(file)
                self._give(self._read_line(line if fits else None))
            self._give(None)

    def _give(self, line: Line | None) -> None:
        asyncio.run_coroutine_threadsafe(self._lines.put(line), self._loop).result()


class Writer:
    """Stdout; whatever else is written there goes to stderr from now on."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = SimpleQueue()
        threading.Thread(target=self._write, args=(_take_stdout(),), daemon=True).start()

    async def write(self, data: bytes) -> bool:
        """Write it all; False if nobody reads any more."""
        written: asyncio.Future[bool] = self._loop.create_future()
        self._waiting.put((data, written))
        return await written

    def _write(self, descriptor: int) -> None:
        while True:
            data, written = self._waiting.get()
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
            except OSError:
                pass
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_settle, written, not data)


def _settle(future: "asyncio.Future[bool]", result: bool) -> None:
    if not future.done():
        future.set_result(result)


def _skip_line(file: BinaryIO) -> None:
    while (rest := file.readline(64 * 1024)) and not rest.endswith(b"\n"):
        pass


def _take_stdin() -> int:
    taken, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken


def _take_stdout() -> int:
    taken = os.dup(1)
    os.dup2(2, 1)
    return taken
