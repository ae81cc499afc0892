"""Lets a tool read artifacts from its worker's store, without the credentials that the store asks for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from activities.store.store import MAX_KEY_LENGTH, NotStoredError, Store, StoreUnavailableError, is_key

_FOUND, _MISSING, _FAILED = b"found\n", b"missing\n", b"failed\n"
_PATIENCE_SECONDS = 60


@asynccontextmanager
async def relay(store: Store, socket: Path, *, below: str) -> AsyncGenerator[None]:
    """Answer on a Unix socket to whoever asks for an object below a key, and for nothing else.

    Raises:
        OSError: the socket cannot be made; its path may be too long.
    """
    answering: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  it is what runs this
        answering.add(task)
        task.add_done_callback(answering.discard)
        try:
            writer.writelines(await _answer(store, (await reader.readline()).decode(), below))
            await writer.drain()
        except (OSError, ValueError):
            # Who asked is gone, or asked for nothing that could be a key.
            pass
        finally:
            writer.close()

    server = await asyncio.start_unix_server(answer, socket, limit=2 * MAX_KEY_LENGTH)
    try:
        yield
    finally:
        server.close()
        for task in answering:
            task.cancel()


async def read_through(socket: Path, key: str) -> bytes:
    """Ask a relay for an object.

    Raises:
        NotStoredError: there is none.
        StoreUnavailableError: the store cannot be used, or the relay does not answer.
    """
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(f"{key}\n".encode())
                status, data = await reader.readline(), await reader.read()
            finally:
                writer.close()
    except (OSError, TimeoutError) as error:
        raise StoreUnavailableError("the worker of this call does not give artifacts any more") from error
    if status == _FOUND:
        size, _, content = data.partition(b"\n")
        if len(content) == int(size):
            return content
    if status == _MISSING:
        raise NotStoredError(data.decode())
    if status == _FAILED:
        raise StoreUnavailableError(data.decode())
    raise StoreUnavailableError("the worker of this call stopped while it gave the artifact")


async def _answer(store: Store, line: str, below: str) -> tuple[bytes, ...]:
    key = line.removesuffix("\n")
    if not is_key(key) or not key.startswith(f"{below}/"):
        return _MISSING, f"there is no '{below}/…' of this name in the store".encode()
    try:
        content = await store.get(key)
    except NotStoredError as error:
        return _MISSING, str(error).encode()
    except StoreUnavailableError as error:
        return _FAILED, str(error).encode()
    return _FOUND, f"{len(content)}\n".encode(), content
