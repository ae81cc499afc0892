"""Payloads that are encrypted, and those that cannot be decrypted."""

import base64

import pytest
from temporalio.api.common.v1 import Payload

from workers.encryption.codec import EncryptionCodec
from workers.encryption.keys import Keyring, KeyUnknownError, parse_keys

OLD = parse_keys("old:" + base64.b64encode(b"o" * 32).decode())
BOTH = parse_keys(
    ",".join(f"{key_id}:{base64.b64encode(key_id[:1].encode() * 32).decode()}" for key_id in ("new", "old"))
)
PLAIN = Payload(metadata={"encoding": b"json/plain", "beside": b"it"}, data=b'"hello"')


async def test_a_payload_survives_with_its_metadata_and_shows_nothing() -> None:
    (encrypted,) = await EncryptionCodec(OLD).encode([PLAIN])
    assert await EncryptionCodec(OLD).decode([encrypted]) == [PLAIN]
    assert dict(encrypted.metadata) == {
        "encoding": b"binary/encrypted",
        "encryption-cipher": b"AES-256-GCM",
        "encryption-key-id": b"old",
    }
    assert not any(text in encrypted.SerializeToString() for text in (b"hello", b"json/plain", b"beside"))


async def test_each_payload_of_a_mixed_history_is_readable() -> None:
    old, new = await EncryptionCodec(OLD).encode([PLAIN]), await EncryptionCodec(BOTH).encode([PLAIN])
    keys = [one.metadata["encryption-key-id"] for one in (*old, *new)]
    assert await EncryptionCodec(BOTH).decode([PLAIN, *old, *new]) == [PLAIN] * 3
    assert keys == [b"old", b"new"]


async def test_payloads_stay_plain_without_a_key() -> None:
    assert await EncryptionCodec(Keyring()).encode([PLAIN]) == [PLAIN]


@pytest.mark.parametrize("ring", [pytest.param(Keyring(), id="no key"), pytest.param(OLD, id="another")])
async def test_a_payload_whose_key_is_not_here_waits_for_it(ring: Keyring) -> None:
    encrypted = await EncryptionCodec(BOTH).encode([PLAIN])
    with pytest.raises(KeyUnknownError, match="encrypted with the key 'new'"):
        await EncryptionCodec(ring).decode(encrypted)


async def test_a_payload_of_a_cipher_to_come_waits_for_its_release() -> None:
    (encrypted,) = await EncryptionCodec(OLD).encode([PLAIN])
    encrypted.metadata["encryption-cipher"] = b"AES-512"
    with pytest.raises(KeyUnknownError, match="the cipher 'AES-512', which this release does not know"):
        await EncryptionCodec(OLD).decode([encrypted])


@pytest.mark.parametrize(
    ("data", "metadata", "reason"),
    [
        pytest.param(b"x" * 60, {}, "is not opened by the key of that id here", id="changed"),
        pytest.param(b"", {}, "is not opened by the key of that id here", id="empty"),
        pytest.param(b"x", {"encryption-key-id": b""}, "encryption-key-id", id="without a key's id"),
        pytest.param(b"x", {"encryption-cipher": b""}, "encryption-cipher is missing", id="without a cipher"),
    ],
)
async def test_what_no_key_will_ever_open_becomes_an_undecodable_payload(
    data: bytes, metadata: dict[str, bytes], reason: str
) -> None:
    (encrypted,) = await EncryptionCodec(OLD).encode([PLAIN])
    broken = Payload(metadata={**encrypted.metadata, **metadata}, data=data)
    (given,) = await EncryptionCodec(OLD).decode([broken])
    assert (given.metadata["encoding"], reason in given.data.decode()) == (b"binary/undecodable", True)


async def test_what_opens_and_is_no_payload_is_undecodable() -> None:
    sealed = OLD.seal(b"\xff no protobuf", purpose="payload")
    metadata = {
        "encoding": b"binary/encrypted",
        "encryption-cipher": b"AES-256-GCM",
        "encryption-key-id": b"old",
    }
    (given,) = await EncryptionCodec(OLD).decode([Payload(metadata=metadata, data=sealed.data)])
    assert given.metadata["encoding"] == b"binary/undecodable"


async def test_an_encrypted_payload_is_little_larger_than_a_plain_one() -> None:
    large = Payload(metadata={"encoding": b"json/plain"}, data=b"x" * 2**20)
    (encrypted,) = await EncryptionCodec(OLD).encode([large])
    assert encrypted.ByteSize() - large.ByteSize() < 200
