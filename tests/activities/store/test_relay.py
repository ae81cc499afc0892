import asyncio
from pathlib import Path

import pytest

from activities.store.bucket import memory_store
from activities.store.relay import read_through, relay
from activities.store.store import NotStoredError, StoreUnavailableError
from tests.activities.store.s3_server import s3_server
from workers.settings import Settings
from workers.storage import open_store


async def test_an_object_is_read_through_a_relay_byte_for_byte(tmp_path: Path) -> None:
    store, large = memory_store(), bytes(range(256)) * 40_000
    await store.put("artifacts/a/b", large)
    await store.put("artifacts/empty", b"")

    async with relay(store, tmp_path / "s", below="artifacts"):
        read = [await read_through(tmp_path / "s", f"artifacts/{name}") for name in ("a/b", "empty")]

    assert read == [large, b""]


@pytest.mark.parametrize(
    "key", ["artifacts/b", "conversations/a", "artifacts/../conversations/a", "\ud7ff" * 9_000]
)
async def test_a_relay_gives_nothing_but_what_is_below_its_key(key: str, tmp_path: Path) -> None:
    store = memory_store()
    await store.put("conversations/a", b"secret")

    async with relay(store, tmp_path / "s", below="artifacts"):
        with pytest.raises((NotStoredError, StoreUnavailableError)):
            await read_through(tmp_path / "s", key)


async def test_a_relay_says_what_is_wrong_with_its_store(tmp_path: Path) -> None:
    with s3_server() as server:
        store = open_store(Settings(store="s3://bucket"), server.environment())
        async with relay(store, tmp_path / "s", below="artifacts"):
            with pytest.raises(
                StoreUnavailableError, match=r"^the store s3://bucket cannot be read: there is no"
            ):
                await read_through(tmp_path / "s", "artifacts/a")


async def test_a_relay_that_is_over_is_said_to_be_so(tmp_path: Path) -> None:
    store = memory_store()
    async with relay(store, tmp_path / "s", below="artifacts"):
        _, hanging = await asyncio.open_unix_connection(tmp_path / "s")
        await asyncio.sleep(0)

    with pytest.raises(StoreUnavailableError, match=r"does not give artifacts any more$"):
        await read_through(tmp_path / "s", "artifacts/a")
    hanging.close()
