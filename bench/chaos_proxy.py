"""A way between a worker and the server that can be cut: a TCP relay on the loopback interface."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Literal

from workers.server_ports import HOST

CHUNK_BYTES = 64 * 1024
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER for a connection that ends with a reset instead of a farewell."""


class Relay:
    """Carries every connection to one port on to another, while it is whole."""

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._whole = asyncio.Event()
        self._whole.set()
        self._refusing = False
        self._open: set[asyncio.StreamWriter] = set()
        self._one_cut = asyncio.Lock()
        self.port = 0

    async def cut(self, seconds: float, kind: Literal["reset", "swallowed"]) -> None:
        """Let nothing through for a while; returns when it is whole again.

        What was swallowed goes on afterwards, as TCP sends again what a dead link lost.
        """
        async with self._one_cut:
            self._refusing = kind == "reset"
            self._whole.clear()
            if self._refusing:
                for writer in tuple(self._open):
                    _reset(writer)
            await asyncio.sleep(seconds)
            self._refusing = False
            self._whole.set()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection until either side ends it."""
        if self._refusing:
            _reset(writer)
            return
        self._open.add(writer)
        try:
            await self._whole.wait()
            onward_reader, onward_writer = await asyncio.open_connection(HOST, self._target_port)
            self._open.add(onward_writer)
            try:
                await self._both_ways(reader, writer, onward_reader, onward_writer)
            finally:
                self._open.discard(onward_writer)
                onward_writer.transport.abort()
        except OSError:
            return
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _both_ways(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        onward_reader: asyncio.StreamReader,
        onward_writer: asyncio.StreamWriter,
    ) -> None:
        ways = [
            asyncio.create_task(self._one_way(reader, onward_writer)),
            asyncio.create_task(self._one_way(onward_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _one_way(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK_BYTES):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection: socket.socket | None = writer.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()


@asynccontextmanager
async def relay_to(target_port: int) -> AsyncGenerator[Relay]:
    """Open a relay on a free port for as long as the context lasts."""
    relay = Relay(target_port)
    server = await asyncio.start_server(relay.carry, HOST, 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
