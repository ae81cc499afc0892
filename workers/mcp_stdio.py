"""MCP's messages over stdin and stdout."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from surefoot.sizes import count
from surefoot.strict_json import NotStrictJsonError, strict_json
from workers.standard_streams import Lines, Writer

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""Params of 1 MiB take six times as much when each of their characters is escaped."""

_LAST_WORDS_SECONDS = 1.0
"""How long the last answers may take to be written: perhaps nobody reads them any more."""


@dataclass(frozen=True)
class NoMessage:
    """A line that is no message, and what is to be said to it."""

    answer: JSONRPCError


Received = MemoryObjectReceiveStream[SessionMessage | Exception]
Sent = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def standard_connection() -> AsyncGenerator[tuple[Received, Sent]]:
    """Have the client's messages, and a way to answer; they end when the client has gone.

    What is no message is answered with an error of the protocol, and the next line is read.
    """
    lines, stdout = Lines(read_message, max_line_bytes=MAX_MESSAGE_BYTES), Writer()
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    all_sent = asyncio.Event()

    async def receive() -> None:
        # The server may have ended first.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with to_server:
                while (message := await lines.next()) is not None:
                    if isinstance(message, NoMessage):
                        await stdout.write(_line(message.answer))
                    else:
                        await to_server.send(SessionMessage(message))

    async def send() -> None:
        async with from_server:
            async for message in from_server:
                if not await stdout.write(_line(message.message)):
                    await to_server.aclose()
        all_sent.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield received, sent
        with anyio.move_on_after(_LAST_WORDS_SECONDS):
            await all_sent.wait()
        tasks.cancel_scope.cancel()


def read_message(line: bytes | None) -> JSONRPCMessage | NoMessage:
    """Read a line as a message; None stands for a line that was too long."""
    if line is None:
        return _no_message(None, INVALID_REQUEST, f"the message is above {count(MAX_MESSAGE_BYTES)}")
    try:
        value = strict_json(line)
    except NotStrictJsonError as error:
        return _no_message(_id_in(line), PARSE_ERROR, f"the message is not JSON: {error}")
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return _no_message(
            _id_of(value), INVALID_REQUEST, "the message is no request, notification or answer"
        )


def _no_message(request: RequestId | None, code: int, error: str) -> NoMessage:
    return NoMessage(JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=code, message=error)))


def _id_in(line: bytes) -> RequestId | None:
    """Find out whom to answer: not everything that is not strict JSON is none at all."""
    try:
        return _id_of(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _id_of(value: object) -> RequestId | None:
    match value:
        case {"id": bool()}:
            return None
        case {"id": str() | int() as found}:
            return found
        case _:
            return None


def _line(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
