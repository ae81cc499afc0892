"""The messages between this client and a server that speaks in lines."""

import asyncio
import math
from collections.abc import Callable
from types import TracebackType
from typing import Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from activities.tools.mcp.endings import TooLarge, Unreadable
from activities.tools.mcp.lines import Overlong, as_number, message_id
from activities.tools.mcp.message import read_message
from activities.tools.mcp.notifications import logged
from activities.tools.mcp.outbox import Outbox
from activities.tools.mcp.overheard import Overheard

_READ_AT_ONCE_BYTES = 64 * 1024

MAX_WAITING_BYTES = 32 * 1024 * 1024
"""Large messages that have come and were not read yet: a server that sends more is not listened to."""

MAX_WAITING_MESSAGES = 1_000
"""The same for messages that were read, and not looked at."""

MAX_BY_THE_WAY = 200_000
"""Lines that are no answer, one after the other: a server that goes on and on is not listened to, either."""


class Exchange:
    """Both directions of a session: what is sent is remembered until it is answered.

    It is the stream to which the SDK writes. An answer that is none fails the request that it was for, with
    an error whose data is an `Unreadable` or a `TooLarge`; no other request is touched.
    """

    def __init__(self, outbox: Outbox, overheard: Overheard, *, on_flood: Callable[[], None]) -> None:
        self.heard = 0
        """Counts the messages that came: a server that is silent can be told by it."""
        self._on_flood = on_flood
        self._outbox = outbox
        self._overheard = overheard
        self._asked: set[int | str] = set()
        self._given_up: set[int | str] = set()
        self._by_the_way = 0
        self._waiting_bytes = 0
        self._reading: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._incoming, self.messages = anyio.create_memory_object_stream[SessionMessage | Exception](
            math.inf
        )

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message; it never waits for the server."""
        match item.message:
            case JSONRPCRequest(id=request_id):
                self._asked.add(request_id)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": request_id}):
                self._asked.discard(request_id)
                self._given_up.add(request_id)
            case _:
                pass
        self._outbox.put(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async def aclose(self) -> None:
        """Do nothing: the server's stdin is closed when its process is to end."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        return None

    def take_line(self, line: bytes) -> None:
        """Take a line of the server."""
        self._by_the_way += 1
        if self._by_the_way > MAX_BY_THE_WAY:
            self._on_flood()
            return
        if len(line) <= _READ_AT_ONCE_BYTES:
            self._read(line)
            return
        self._waiting_bytes += len(line)
        if self._waiting_bytes > MAX_WAITING_BYTES:
            self._on_flood()
            return
        task = asyncio.get_running_loop().create_task(self._read_large(line))
        self._reading.add(task)
        task.add_done_callback(self._reading.discard)

    def take_overlong(self, line: Overlong) -> None:
        """Take what is left of a line that was too long to be kept."""
        self._fail(message_id(line.head, line.tail), TooLarge(line.size_bytes))

    async def end(self) -> None:
        """Let whoever still waits for an answer know that none will come, once what came has been read."""
        if self._reading:
            await asyncio.wait(self._reading)
        self._incoming.close()

    async def _read_large(self, line: bytes) -> None:
        async with self._one_at_a_time:
            # The largest take tenths of a second, in which no other call would beat.
            message = await asyncio.to_thread(read_message, line)
            self._waiting_bytes -= len(line)
            self._take(line, message)

    def _read(self, line: bytes) -> None:
        self._take(line, read_message(line))

    def _take(self, line: bytes, message: JSONRPCMessage | Unreadable | None) -> None:
        match message:
            case None:
                self._overheard.noise(line)
            case Unreadable():
                self._fail(message_id(line, line[-512:]), message, line)
            case JSONRPCNotification(method=method, params=params):
                self.heard += 1
                if text := logged(method, params or {}):
                    self._overheard.log(text)
            case JSONRPCResponse(id=request_id) | JSONRPCError(id=request_id):
                self._answer(request_id, message)
            case JSONRPCRequest():
                self._deliver(message)
                if self.messages.statistics().current_buffer_used > MAX_WAITING_MESSAGES:
                    self._on_flood()

    def _answer(self, request_id: int | str | None, message: JSONRPCMessage) -> None:
        asked = as_number(request_id)
        if asked in self._given_up:
            self._given_up.discard(asked)
            self.heard += 1
            return
        if asked is None or asked not in self._asked:
            self._overheard.log(f"[answered a request that nobody waits for: id {request_id!r:.100}]")
            return
        self._asked.discard(asked)
        self._by_the_way = 0
        self._deliver(message)

    def _fail(self, request_id: int | None, ending: Unreadable | TooLarge, line: bytes = b"") -> None:
        """Fail the request that was answered like this; if that is not known, the only one there is."""
        if request_id is None and len(self._asked) == 1:
            (only,) = self._asked
            request_id = only if isinstance(only, int) else None
        if request_id is None or request_id not in self._asked:
            self._overheard.noise(line)
            return
        self._asked.discard(request_id)
        error = ErrorData(code=INTERNAL_ERROR, message="no answer of the protocol", data=ending)
        self._deliver(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))

    def _deliver(self, message: JSONRPCMessage) -> None:
        self.heard += 1
        try:
            self._incoming.send_nowait(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # Nobody listens any more: the session is being closed.
            return
