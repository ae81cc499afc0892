"""Messages that somebody types, pastes, or pipes into a command, one after the other."""

import asyncio
import os
import threading
from collections.abc import Callable
from datetime import timedelta

from console.errors import CommandError
from console.typed_line import forget_typed
from surefoot.sizes import MAX_MESSAGE_BYTES, count

PASTE_PAUSE = timedelta(milliseconds=50)
"""Lines that come faster than this were not typed: together they are one message."""

_CHUNK_BYTES = 64 * 1024


class TypedMessages:
    """Reads messages from a file: each line is one, and a backslash at its end goes on with the next line."""

    def __init__(self, file: int, *, terminal: bool) -> None:
        """`file` is its number; on a terminal, lines that are pasted together are one message."""
        self._file = file
        self._terminal = terminal
        self._rest = b""
        self._ended = False
        self._reading: asyncio.Future[bytes] | None = None
        self._turn = asyncio.Lock()

    def forget(self) -> None:
        """Leave out what was typed until now; only of a terminal."""
        forget_typed(self._file)
        self._rest = b""
        if self._reading is not None and self._reading.done() and self._reading.result():
            self._reading = None

    async def next(self) -> str | None:
        """Wait for the next message; None at the end of the file. One after the other is given theirs.

        Raises:
            CommandError: a line is longer than any message.
        """
        async with self._turn:
            return await self._message()

    async def line(self) -> str | None:
        """Wait for the next line, as `next` does, whatever comes after it."""
        async with self._turn:
            return await self._line()

    async def _message(self) -> str | None:
        lines: list[str] = []
        while (line := await self._line()) is not None:
            goes_on = line.endswith("\\")
            lines.append(line.removesuffix("\\"))
            if not goes_on and not await self._is_paste():
                return "\n".join(lines)
        return "\n".join(lines) if lines else None

    async def _line(self) -> str | None:
        while b"\n" not in self._rest and not self._ended:
            if len(self._rest) > MAX_MESSAGE_BYTES:
                raise CommandError(f"a line on stdin is above the limit of {count(MAX_MESSAGE_BYTES)}")
            await self._read()
        if not self._rest:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")

    async def _is_paste(self) -> bool:
        if not self._terminal or self._ended:
            return False
        if not self._rest:
            await asyncio.wait({self._begin()}, timeout=PASTE_PAUSE.total_seconds())
        return bool(self._rest) or self._begin().done()

    async def _read(self) -> None:
        # What was cancelled while it waited is taken by whoever waits next.
        chunk = await asyncio.shield(self._begin())
        self._reading = None
        self._rest += chunk
        self._ended = not chunk

    def _begin(self) -> asyncio.Future[bytes]:
        if self._reading is None:
            loop = asyncio.get_running_loop()
            self._reading = loop.create_future()
            # A daemon: it must not keep the command from ending until Enter is pressed after all.
            reading = threading.Thread(target=_read_into, args=(self._file, self._reading), daemon=True)
            reading.start()
        return self._reading


def _read_into(file: int, chunk: asyncio.Future[bytes]) -> None:
    try:
        read = os.read(file, _CHUNK_BYTES)
    except OSError:
        read = b""
    _tell(chunk, lambda: chunk.done() or chunk.set_result(read))


def _tell(chunk: asyncio.Future[bytes], act: Callable[[], object]) -> None:
    loop = chunk.get_loop()
    if not loop.is_closed():
        loop.call_soon_threadsafe(act)
