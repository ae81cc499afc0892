import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from activities.store.bucket import memory_store
from activities.store.directory import DirectoryStore
from activities.store.store import (
    NotStoredError,
    Store,
    StoreUnavailableError,
    is_key,
    key_part,
)
from tests.activities.store.s3_server import SECRET, s3_server
from workers.settings import Settings
from workers.storage import open_store

OpenStore = Callable[[Path, ExitStack], Store]


def in_a_directory(tmp_path: Path, _cleanup: ExitStack) -> Store:
    return DirectoryStore(tmp_path / "not" / "yet" / "there")


def in_memory(_tmp_path: Path, _cleanup: ExitStack) -> Store:
    return memory_store()


def in_s3(tmp_path: Path, cleanup: ExitStack) -> Store:
    server = cleanup.enter_context(s3_server("bucket"))
    return open_store(settings(tmp_path, "s3://bucket"), server.environment())


def in_s3_below_a_prefix(tmp_path: Path, cleanup: ExitStack) -> Store:
    server = cleanup.enter_context(s3_server("bucket"))
    return open_store(settings(tmp_path, "s3://bucket/of/ours/"), server.environment())


def settings(tmp_path: Path, store: str | None = None) -> Settings:
    return Settings(state_directory=tmp_path, store=store)


@pytest.fixture(
    params=[
        pytest.param(in_a_directory, id="a directory"),
        pytest.param(in_memory, id="memory"),
        pytest.param(in_s3, id="S3"),
        pytest.param(in_s3_below_a_prefix, id="S3 below a prefix"),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: OpenStore = request.param
    with ExitStack() as cleanup:
        yield opened(tmp_path, cleanup)


async def test_what_is_put_can_be_had_again_byte_for_byte(store: Store) -> None:
    objects = {"a": b"", "a-b/c.json": bytes(range(256)), "a-b/d": b"x" * 3_000_000}

    for key, data in objects.items():
        await store.put(key, data)

    assert {key: await store.get(key) for key in objects} == objects


async def test_a_later_object_of_a_key_takes_the_place_of_the_earlier_one(store: Store) -> None:
    await store.put("a/b", b"earlier, and longer")
    await store.put("a/b", b"later")

    assert await store.get("a/b") == b"later"
    assert [one.key for one in await store.list()] == ["a/b"]


async def test_an_object_that_is_not_there_is_said_to_be_missing(store: Store) -> None:
    await store.put("a/b", b"1")

    for key in ("nothing", "a", "a/b/c", "a/c"):
        with pytest.raises(NotStoredError, match=f"^there is no '{key}' in the store "):
            await store.get(key)


async def test_a_deleted_object_is_gone_and_deleting_again_is_no_error(store: Store) -> None:
    await store.put("a/b", b"1")
    await store.put("a/c", b"1")

    await store.delete("a/b")
    await store.delete("a/b")
    await store.delete("nothing/here")

    assert [one.key for one in await store.list()] == ["a/c"]


async def test_a_listing_has_every_object_below_whole_parts_of_a_key(store: Store) -> None:
    keys = ["a", "b/c", "b/d/e", "b/d/f", "b/d/g", "b/d/h", "bb/c"]
    for key in reversed(keys):
        await store.put(key, b"12")

    listed = await store.list()
    now = datetime.now(UTC)

    assert [one.key for one in listed] == keys
    assert {one.size_bytes for one in listed} == {2}
    assert all(timedelta(days=-1) < now - one.stored_at < timedelta(days=36_500) for one in listed)
    assert [one.key for one in await store.list("b")] == ["b/c", "b/d/e", "b/d/f", "b/d/g", "b/d/h"]
    assert await store.list("c") == ()


async def test_an_empty_store_lists_nothing(store: Store) -> None:
    assert await store.list() == ()


async def test_writers_of_one_key_leave_the_whole_object_of_one_of_them(store: Store) -> None:
    objects = [bytes([number]) * 200_000 for number in range(12)]

    await asyncio.gather(*(store.put("a/b", data) for data in objects))

    assert await store.get("a/b") in objects
    assert len(await store.list()) == 1


async def test_writing_and_deleting_side_by_side_loses_no_other_object(store: Store) -> None:
    async def come_and_go(number: int) -> None:
        for _ in range(5):
            await store.put(f"a/b/{number}", b"1")
            await store.delete(f"a/b/{number}")
        await store.put(f"a/b/{number}", b"2")

    await asyncio.gather(*(come_and_go(number) for number in range(6)))

    assert [one.key for one in await store.list()] == [f"a/b/{number}" for number in range(6)]


@pytest.mark.parametrize(
    "key", ["", "/", "/a", "a/", "a//b", "..", "a/../b", ".a", "-a", "a b", "ä", "x" * 201]
)
async def test_what_is_no_key_is_refused(store: Store, key: str) -> None:
    with pytest.raises(ValueError, match=r"is no key of a store"):
        await store.put(key, b"1")
    with pytest.raises(ValueError, match=r"is no key of a store"):
        await store.get(key)


async def test_the_files_of_a_directory_are_for_their_owner_alone(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")

    before = os.umask(0)
    try:
        await store.put("a/b", b"1")
    finally:
        os.umask(before)

    paths = [store.directory, store.directory / "a", store.file("a/b")]
    assert [stat.S_IMODE(path.stat().st_mode) for path in paths] == [0o700, 0o700, 0o600]
    assert store.file("a/b").read_bytes() == b"1"


async def test_what_is_no_object_is_not_listed(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    await store.put("a/b", b"1")
    (tmp_path / "a" / ".x.tmp").write_bytes(b"half of an obj")
    (tmp_path / "a" / "of somebody else").write_bytes(b"1")

    assert [one.key for one in await store.list()] == ["a/b"]


async def test_a_directory_that_is_a_file_is_said_to_be_unusable(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no directory")
    store = DirectoryStore(tmp_path / "store")

    with pytest.raises(StoreUnavailableError, match=r"^the store .*/store cannot be written to: "):
        await store.put("a/b", b"1")
    with pytest.raises(StoreUnavailableError, match=r"^the store .*/store cannot be read: Not a directory$"):
        await store.list()


@pytest.fixture
def forbidden(tmp_path: Path) -> Iterator[Path]:
    """A directory that this process may neither read nor write for now."""
    directory = tmp_path / "store"
    (directory / "a").mkdir(parents=True)
    (directory / "a" / "b").write_bytes(b"1")
    if os.geteuid() == 0:
        # Modes do not stop root.
        (directory / "a").chmod(0o700)
        tmp_path.chmod(0o700)
        os.seteuid(65534)
        yield directory
        os.seteuid(0)
    else:
        directory.chmod(0)
        yield directory
        directory.chmod(0o700)


async def test_a_directory_that_is_forbidden_is_said_to_be_so(forbidden: Path) -> None:
    store = DirectoryStore(forbidden)

    with pytest.raises(StoreUnavailableError, match=r"cannot be written to: Permission denied$"):
        await store.put("a/c", b"1")
    with pytest.raises(StoreUnavailableError, match=r"cannot be read: Permission denied$"):
        await store.get("a/b")
    with pytest.raises(StoreUnavailableError, match=r"cannot be read: Permission denied$"):
        await store.list()


@pytest.fixture
def no_room(tmp_path: Path) -> Iterator[None]:
    """Files of this process cannot grow past 4 KB, as on a disk that is full."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_disk_without_room_keeps_the_earlier_object_and_no_half_of_the_later(
    tmp_path: Path, no_room: None
) -> None:
    store = DirectoryStore(tmp_path / "store")
    await store.put("a/b", b"earlier")

    with pytest.raises(StoreUnavailableError, match=r"cannot be written to: File too large$"):
        await store.put("a/b", b"x" * 10_000)

    assert await store.get("a/b") == b"earlier"
    assert [path.name for path in (tmp_path / "store" / "a").iterdir()] == ["b"]


@pytest.fixture
async def troubled(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    trouble: str = request.param
    with s3_server("bucket") as server:
        server.failing = int(trouble) if trouble.isdigit() else None
        url = f"s3://{'another' if trouble == 'bucket' else 'bucket'}/ours"
        match trouble:
            case "secret":
                environment = server.environment(AWS_SECRET_ACCESS_KEY=f"{SECRET}-wrong")
            case "endpoint":
                environment = server.environment(AWS_ENDPOINT_URL="http://127.0.0.1:1")
            case _:
                environment = server.environment()
        yield open_store(settings(tmp_path, url), environment)


@pytest.mark.parametrize(
    ("troubled", "reason"),
    [
        pytest.param("bucket", "there is no such bucket", id="a missing bucket"),
        pytest.param("secret", "access was denied", id="wrong credentials"),
        pytest.param("endpoint", "the service cannot be reached", id="nobody there"),
        pytest.param("403", "access was denied", id="no right to it"),
        pytest.param("500", "the service answered 500", id="a broken service"),
    ],
    indirect=["troubled"],
)
async def test_trouble_with_s3_is_one_sentence_without_a_secret(troubled: Store, reason: str) -> None:
    tries = [troubled.put("a", b"1"), troubled.get("a"), troubled.list()]

    said = await asyncio.gather(*tries, return_exceptions=True)

    assert {type(one) for one in said} == {StoreUnavailableError}
    assert [str(one) for one in said if reason not in str(one) or "\n" in str(one)] == []
    assert [str(one) for one in said if SECRET in str(one) or "AKID" in str(one)] == []


@given(some.text())
def test_any_text_can_be_part_of_a_key(text: str) -> None:
    assert is_key(key_part(text))
    assert "/" not in key_part(text)


@given(some.text(), some.text())
def test_two_texts_never_give_the_same_part_of_a_key(one: str, other: str) -> None:
    assert (key_part(one) == key_part(other)) == (one == other)
