"""Payloads in the JSON of Temporal's remote codecs, encoded and decoded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from temporalio.api.common.v1 import Payload, Payloads

from surefoot.strict_json import NotStrictJsonError, strict_json
from workers.encryption.codec import ENCODING, ENCRYPTED, KEY_ID_METADATA, EncryptionCodec
from workers.encryption.keys import KeyUnknownError
from workflows.payloads import UNDECODABLE

Action = Literal["encode", "decode"]


class NotPayloadsError(ValueError):
    """Says in one phrase why a body is not what a codec is asked with."""


@dataclass(frozen=True)
class Coded:
    """What became of payloads, in their order; those that cannot be decoded are as they were."""

    payloads: tuple[Payload, ...]
    key_ids: tuple[str, ...]
    """The keys that were used, or asked for; in alphabetical order."""
    unreadable: tuple[str, ...] = ()
    """One sentence for each that cannot be decoded."""

    @property
    def is_refusal(self) -> bool:
        """Tell whether nothing of what was to be decrypted could be."""
        encrypted = sum(payload.metadata.get(ENCODING) == ENCRYPTED for payload in self.payloads)
        return bool(self.unreadable) and encrypted == len(self.payloads)


def payloads_in(body: bytes) -> tuple[Payload, ...]:
    """Read `{"payloads": [{"metadata": {name: base64}, "data": base64}]}`; raises NotPayloadsError."""
    try:
        value = strict_json(body)
    except NotStrictJsonError as error:
        raise NotPayloadsError(f"the body is not strict JSON: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("payloads"), list):
        raise NotPayloadsError('the body has to be a JSON object with a list "payloads"')
    try:
        return tuple(ParseDict(value, Payloads(), ignore_unknown_fields=True).payloads)
    except ParseError as error:
        raise NotPayloadsError(f"the payloads cannot be read: {error}") from None


def json_of(payloads: Sequence[Payload]) -> str:
    """Give payloads in the form in which they came."""
    return json.dumps({"payloads": [MessageToDict(payload) for payload in payloads]})


async def coded(codec: EncryptionCodec, action: Action, payloads: Sequence[Payload]) -> Coded:
    """Encode or decode; what is encrypted already is not encrypted again."""
    return await (_encoded if action == "encode" else _decoded)(codec, payloads)


async def _encoded(codec: EncryptionCodec, payloads: Sequence[Payload]) -> Coded:
    results: list[Payload] = []
    for payload in payloads:
        results += [payload] if _is_encrypted(payload) else await codec.encode([payload])
    return Coded(tuple(results), _keys(results))


async def _decoded(codec: EncryptionCodec, payloads: Sequence[Payload]) -> Coded:
    results: list[Payload] = []
    unreadable: list[str] = []
    for payload in payloads:
        try:
            (result,) = await codec.decode([payload])
        except KeyUnknownError as error:
            unreadable.append(str(error))
            result = payload
        if _is_encrypted(payload) and result.metadata.get(ENCODING) == UNDECODABLE:
            unreadable.append(result.data.decode("utf-8", "replace"))
            result = payload
        results.append(result)
    return Coded(tuple(results), _keys(payloads), tuple(unreadable))


def _is_encrypted(payload: Payload) -> bool:
    return payload.metadata.get(ENCODING) == ENCRYPTED


def _keys(payloads: Sequence[Payload]) -> tuple[str, ...]:
    named = {
        payload.metadata[KEY_ID_METADATA].decode("utf-8", "replace")
        for payload in payloads
        if _is_encrypted(payload) and KEY_ID_METADATA in payload.metadata
    }
    return tuple(sorted(named))
