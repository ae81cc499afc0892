import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from bench.chaos_proxy import Relay, relay_to
from workers.server_ports import HOST


@asynccontextmanager
async def relayed_echo() -> AsyncGenerator[Relay]:
    """Have a relay to a server that sends back each line."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, HOST, 0)
    async with server, relay_to(server.sockets[0].getsockname()[1]) as relay:
        yield relay


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes) -> bytes:
    writer.write(line)
    return await reader.readline()


async def test_what_a_cut_swallows_arrives_when_it_is_over() -> None:
    async with relayed_echo() as relay:
        reader, writer = await asyncio.open_connection(HOST, relay.port)
        assert await answer(reader, writer, b"before\n") == b"before\n"
        cut = asyncio.create_task(relay.cut(0.2, "swallowed"))
        await asyncio.sleep(0)  # lets the cut begin
        arriving = asyncio.create_task(answer(reader, writer, b"during\n"))
        await asyncio.wait({cut, arriving}, return_when=asyncio.FIRST_COMPLETED)
        assert (cut.done(), await arriving) == (True, b"during\n")
        writer.close()


async def test_a_reset_ends_connections_and_refuses_new_ones_until_it_is_over() -> None:
    async with relayed_echo() as relay:
        reader, writer = await asyncio.open_connection(HOST, relay.port)
        assert await answer(reader, writer, b"before\n") == b"before\n"
        cut = asyncio.create_task(relay.cut(0.2, "reset"))
        with pytest.raises(ConnectionResetError):
            await reader.readline()
        refused_reader, _ = await asyncio.open_connection(HOST, relay.port)
        with pytest.raises(ConnectionResetError):
            await refused_reader.readline()
        await cut
        assert await answer(*await asyncio.open_connection(HOST, relay.port), b"after\n") == b"after\n"
