"""Payloads as they arrive, decoded where a failure can be caught.

A typed `result_type` is decoded before the awaiting code runs: a value that does not fit fails the
workflow task for ever, and no `try` ever sees it.
"""

from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from temporalio.common import RawValue

from surefoot.strict_json import strict_json

_Model = TypeVar("_Model", bound=BaseModel)

_JSON_ENCODING = b"json/plain"

UNDECODABLE = b"binary/undecodable"
"""The encoding of what stands for a payload that could not be decrypted; its data says why, in UTF-8."""


class UndecodableError(ValueError):
    """Says in one phrase why a payload is not what it should be."""


class UnreadableError(Exception):
    """One sentence on what cannot be decrypted here.

    It is none of the errors that end a run in which they happen: what cannot be read now waits.
    """


def opened(raw: RawValue) -> RawValue:
    """Give a payload back that could be decrypted, as far as it was encrypted.

    Raises:
        UnreadableError: it could not, and a worker that has the right key may go on from here.
    """
    if raw.payload.metadata.get("encoding") == UNDECODABLE:
        raise UnreadableError(raw.payload.data.decode("utf-8", "replace"))
    return raw


def json_value(raw: RawValue | None) -> JsonValue:
    """Decode a payload that must be one strict JSON value.

    The SDK gives None for an activity that ended well and answered with no payload at all.

    Raises:
        UndecodableError: for another encoding, and for no payload.
        NotStrictJsonError: for bytes that are not strict JSON.
    """
    if raw is None:
        raise UndecodableError("there is no value in it")
    encoding = raw.payload.metadata.get("encoding", b"")
    if encoding == UNDECODABLE:
        raise UndecodableError(raw.payload.data.decode("utf-8", "replace"))
    if encoding != _JSON_ENCODING:
        named = encoding.decode("ascii", "replace")[:60] or "none"
        raise UndecodableError(f"its encoding is {named}, and not json/plain")
    return strict_json(raw.payload.data)


def typed(raw: RawValue | None, model: type[_Model]) -> _Model:
    """Decode a payload of our own.

    Raises:
        UndecodableError: if it does not fit the model, with the first field that does not.
    """
    if raw is None:
        raise UndecodableError(f"{model.__name__} cannot be read: there is no value")
    if raw.payload.metadata.get("encoding") == UNDECODABLE:
        raise UndecodableError(
            f"{model.__name__} cannot be read: {raw.payload.data.decode(errors='replace')}"
        )
    try:
        return model.model_validate_json(raw.payload.data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(step) for step in first["loc"]) or "value"
        raise UndecodableError(f"{model.__name__} cannot be read: {field}: {first['msg']}") from None
