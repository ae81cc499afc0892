"""Payloads as the server has them: encrypted, with the id of their key beside them."""

from collections.abc import Sequence

from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from workers.encryption.keys import CIPHER, Keyring, KeyUnknownError, NotAuthenticError, Sealed
from workflows.payloads import UNDECODABLE

ENCODING, CIPHER_METADATA, KEY_ID_METADATA = "encoding", "encryption-cipher", "encryption-key-id"
ENCRYPTED = b"binary/encrypted"

PURPOSE = "payload"


class EncryptionCodec(PayloadCodec):
    """Encrypts every payload with the first key of a ring, and gives plain ones back as they are.

    Without a key it leaves payloads plain, and says of encrypted ones which key they need.
    """

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt payloads, whole with their metadata."""
        return [self._encrypted(payload) for payload in payloads] if self._keyring else list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt payloads; one that was changed becomes an undecodable one, which fails only who reads it.

        Raises:
            KeyUnknownError: a key is not here.
        """
        return [self._decrypted(payload) for payload in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        sealed = self._keyring.seal(payload.SerializeToString(), purpose=PURPOSE)
        metadata = {
            ENCODING: ENCRYPTED,
            CIPHER_METADATA: CIPHER.encode(),
            KEY_ID_METADATA: sealed.key_id.encode(),
        }
        return Payload(metadata=metadata, data=sealed.data)

    def _decrypted(self, payload: Payload) -> Payload:
        if payload.metadata.get(ENCODING) != ENCRYPTED:
            return payload
        key_id = payload.metadata.get(KEY_ID_METADATA, b"").decode("utf-8", "replace")
        cipher = payload.metadata.get(CIPHER_METADATA, b"").decode("utf-8", "replace")
        if not key_id or not cipher:
            return _undecodable(
                f"it is encrypted, and its metadata {KEY_ID_METADATA} or {CIPHER_METADATA} is missing"
            )
        if cipher != CIPHER:
            raise KeyUnknownError(
                f"this is encrypted with the cipher '{cipher[:60]}', which this release does not know"
            )
        try:
            return Payload.FromString(self._keyring.open(Sealed(key_id, payload.data), purpose=PURPOSE))
        except NotAuthenticError as error:
            return _undecodable(str(error))
        except DecodeError:
            return _undecodable(f"what the key '{key_id}' opens is no payload of Temporal's")


def _undecodable(reason: str) -> Payload:
    return Payload(metadata={ENCODING: UNDECODABLE}, data=reason.encode())
