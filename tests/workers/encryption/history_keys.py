"""Which keys the payloads of a history name."""

import base64
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue
from temporalio.client import WorkflowHandle


async def keys_in(run: WorkflowHandle[Any, Any]) -> list[str]:
    """Give the id of the key of each payload in a history that a codec saw; of a plain one it is empty."""
    events = (await run.fetch_history()).events
    payloads = [payload for event in events for payload in _payloads(MessageToDict(event))]
    return [base64.b64decode(one["metadata"].get("encryption-key-id", "")).decode() for one in payloads]


def _payloads(value: JsonValue) -> Iterator[dict[str, Any]]:
    match value:
        case {"metadata": {"encoding": _}}:
            yield value
        case dict():
            for name, inner in value.items():
                # The server reads these itself, and the SDK's core writes its own marks of patches.
                if name not in ("searchAttributes", "markerRecordedEventAttributes"):
                    yield from _payloads(inner)
        case list():
            for inner in value:
                yield from _payloads(inner)
        case _:
            return
