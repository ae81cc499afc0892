import os
from collections.abc import Generator
from contextlib import suppress
from typing import IO

import pytest

from activities.tools.mcp.outbox import MAX_WAITING_BYTES, Outbox
from tests.activities.tools.tool_run import until

Pipe = tuple[int, IO[bytes]]


@pytest.fixture
def pipe() -> Generator[Pipe]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with os.fdopen(writer, "wb", buffering=0) as file:
        yield reader, file
    os.close(reader)


class _Told(list[str]):
    def outbox(self, pipe: Pipe) -> Outbox:
        return Outbox(pipe[1], on_stuck=lambda: self.append("stuck"), on_closed=lambda: self.append("closed"))


async def test_bytes_arrive_in_order_however_slowly_they_are_read(pipe: Pipe) -> None:
    told, read = _Told(), bytearray()
    outbox = told.outbox(pipe)
    sent = [bytes([number]) * 50_000 for number in range(10)]
    for part in sent:
        outbox.put(part)

    def read_on() -> bool:
        with suppress(BlockingIOError):
            read.extend(os.read(pipe[0], 10_000))
        return len(read) == 500_000

    await until(read_on)
    outbox.close()
    outbox.put(b"late")
    assert (bytes(read), told) == (b"".join(sent), [])


async def test_a_reader_that_has_stopped_is_told_once_too_much_waits(pipe: Pipe) -> None:
    told = _Told()
    outbox = told.outbox(pipe)
    outbox.put(bytes(MAX_WAITING_BYTES))
    assert told == []
    outbox.put(b"x")
    outbox.close()
    assert told == ["stuck"]


async def test_a_reader_that_is_gone_is_told_and_nothing_more_is_written() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    told = _Told()
    with os.fdopen(writer, "wb", buffering=0) as file:
        outbox = told.outbox((reader, file))
        outbox.put(b"x")
        await until(lambda: bool(told))
        outbox.put(b"y")
    assert told == ["closed"]
