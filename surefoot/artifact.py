"""What stands for an answer above the model's limit: its ends, and where the whole of it is kept."""

from pydantic import JsonValue

from surefoot.outcome import ToolSuccess
from surefoot.room_in_json import ends_in_json
from surefoot.strict_json import json_bytes

ARTIFACTS = "artifacts"
"""The first part of every artifact's key in a store; what follows it is the artifact's id."""

ARTIFACT_FIELD_ENDING = "_artifact"
"""How the fields of an answer end that name a file which the tool left to be kept."""


class Excerpt(ToolSuccess):
    """A success whose `result` only stands for the answer: its outputSchema does not describe it."""


def excerpt(answer_json: str, *, limit_bytes: int, artifact: str) -> JsonValue:
    """Give what the model reads in place of an answer that is kept whole, within `limit_bytes` of JSON.

    `artifact` is the path of the artifact's file or its id.
    """
    return _within(answer_json, limit_bytes, {"artifact": artifact})


def excerpt_of_lost(answer_json: str, *, limit_bytes: int, reason: str) -> JsonValue:
    """Give what the model reads in place of an answer that could not be kept, and why it could not."""
    return _within(answer_json, limit_bytes, {"note": not_kept(reason)})


def not_kept(reason: str) -> str:
    """Say that what was left out is nowhere to be had."""
    return f"The rest could not be kept: {reason}"


def _within(answer_json: str, limit_bytes: int, where: dict[str, JsonValue]) -> JsonValue:
    rest: dict[str, JsonValue] = {"truncated": True, "bytes": len(answer_json.encode()), **where}
    room_in_json = limit_bytes - json_bytes({**rest, "text": ""})
    return {**rest, "text": ends_in_json(answer_json, limit_bytes=limit_bytes, room_in_json=room_in_json)}
