"""Stores whose objects are encrypted where they are kept."""

from pathlib import Path

import pytest

from activities.store.directory import DirectoryStore
from activities.store.sealed import SealedStore
from activities.store.store import NotStoredError, StoreUnavailableError
from tests.workers.encryption.rings import BOTH, NEW, NONE, OLD, OTHER
from workers.encryption.keys import Keyring
from workers.encryption.objects import ObjectCipher


def sealed(directory: Path, keys: Keyring) -> SealedStore:
    return SealedStore(DirectoryStore(directory), ObjectCipher(keys))


@pytest.mark.parametrize("data", [b"", b"a secret", bytes(range(256)) * 40_000])
async def test_what_is_put_comes_back_and_is_not_on_the_disk(tmp_path: Path, data: bytes) -> None:
    await sealed(tmp_path, OLD).put("artifacts/run/1.txt", data)
    kept = (tmp_path / "artifacts" / "run" / "1.txt").read_bytes()
    assert await sealed(tmp_path, OLD).get("artifacts/run/1.txt") == data
    assert (kept.startswith(b"surefoot-sealed-1\nold\n"), bool(data) and data[:200] in kept) == (True, False)


async def test_what_was_kept_with_an_earlier_key_or_without_one_stays_readable(tmp_path: Path) -> None:
    for name, keys in (("plain", NONE), ("old", OLD), ("new", BOTH)):
        await sealed(tmp_path, keys).put(name, name.encode())
    both = sealed(tmp_path, BOTH)
    assert [await both.get(one.key) for one in await both.list()] == [b"new", b"old", b"plain"]


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        pytest.param(NONE, "encrypted with the key 'old', and this process has no keys", id="no key"),
        pytest.param(NEW, "encrypted with the key 'old', and this process has only 'new'", id="another key"),
        pytest.param(OTHER, "is not opened by the key of that id here", id="another key of the same id"),
    ],
)
async def test_a_store_says_of_an_object_that_its_key_is_not_here(
    tmp_path: Path, keys: Keyring, reason: str
) -> None:
    await sealed(tmp_path, OLD).put("a/b", b"c")
    with pytest.raises(StoreUnavailableError, match=f"^'a/b' in the store cannot be read: .*{reason}"):
        await sealed(tmp_path, keys).get("a/b")


async def test_an_object_in_the_place_of_another_is_not_opened(tmp_path: Path) -> None:
    store = sealed(tmp_path, OLD)
    await store.put("a/mine", b"1")
    (tmp_path / "a" / "mine").rename(tmp_path / "a" / "yours")
    with pytest.raises(StoreUnavailableError, match="is not opened by the key"):
        await store.get("a/yours")


async def test_what_is_deleted_is_gone(tmp_path: Path) -> None:
    store = sealed(tmp_path, OLD)
    await store.put("a", b"1")
    await store.delete("a")
    with pytest.raises(NotStoredError):
        await store.get("a")


@pytest.mark.parametrize(
    ("keys", "has_files"), [pytest.param(OLD, False, id="with a key"), pytest.param(NONE, True, id="without")]
)
def test_only_plain_objects_have_files_for_tools(tmp_path: Path, keys: Keyring, has_files: bool) -> None:
    assert (sealed(tmp_path, keys).file("a") is not None) is has_files
