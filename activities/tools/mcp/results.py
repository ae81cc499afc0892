"""What the model reads of the result of an MCP server's tool."""

import base64
import binascii
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue

from surefoot.artifact import ARTIFACT_FIELD_ENDING, Excerpt
from surefoot.definition import ToolDefinition
from surefoot.failures import Captured, undecodable
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.reply import check_answer

_Block = dict[str, JsonValue]

_TOLD_OF_CONTENT = ("type", "text", "mimeType", "uri", "name", "title", "description", "size", "resource")


def outcome_of(
    result: Mapping[str, JsonValue],
    definition: ToolDefinition,
    captured: Captured,
    *,
    artifacts: Path | None,
    seen: bool = True,
) -> ToolSuccess | ToolFailure:
    """Give the outcome of a call that has this result, which the protocol's model has already read.

    What an `isError` result says is the operation's failure, and inside `result`. Images and the like are
    left as files in `artifacts`, for the executor to keep; without such a directory they are told as they
    are. Of a tool that was not `seen` no outputSchema is known: what it gives as structured is its answer.
    """
    tool = definition.name
    if result.get("isError"):
        # Its outputSchema describes what it answers when it has done its work.
        checked = _checked(_error(result), definition, captured, schema=False)
        return Excerpt(tool=tool, result=checked.result) if isinstance(checked, ToolSuccess) else checked
    if definition.output_schema is not None:
        if "structuredContent" not in result:
            return undecodable(tool, "it has an outputSchema, and sent no structuredContent", captured)
        return _checked(result["structuredContent"], definition, captured)
    if not seen and "structuredContent" in result:
        return _checked(result["structuredContent"], definition, captured)
    return _checked(_content(result, artifacts), definition, captured)


def _checked(
    answer: JsonValue, definition: ToolDefinition, captured: Captured, *, schema: bool = True
) -> ToolSuccess | ToolFailure:
    return check_answer(
        definition.name,
        answer,
        captured=lambda: captured,
        output_schema=definition.output_schema if schema else None,
        exit_code=None,
    )


def _error(result: Mapping[str, JsonValue]) -> _Block:
    texts = [block["text"] for block in _blocks(result) if isinstance(block.get("text"), str)]
    error: _Block = {"error": "\n".join(map(str, texts)) or "the tool says that it failed, and not why"}
    if "structuredContent" in result:
        error["structuredContent"] = result["structuredContent"]
    return error


def _content(result: Mapping[str, JsonValue], artifacts: Path | None) -> _Block:
    told: list[JsonValue] = []
    kept: _Block = {}
    for number, block in enumerate(_blocks(result), 1):
        resource = block.get("resource")
        holder = cast("_Block", resource) if isinstance(resource, dict) else block
        name = _left(holder, artifacts, number)
        shown: _Block = {key: value for key, value in block.items() if key in _TOLD_OF_CONTENT}
        if name is None:
            told.append({**shown, **({"data": block["data"]} if "data" in block else {})})
            continue
        field = f"content_{number}{ARTIFACT_FIELD_ENDING}"
        kept[field] = name
        shown.pop("resource", None)
        about: _Block = {key: value for key, value in holder.items() if key in ("uri", "mimeType")}
        told.append({**shown, **about, "artifact": field})
    content: _Block = {"content": told, **kept}
    if "structuredContent" in result:
        content["structuredContent"] = result["structuredContent"]
    return content


def _left(holder: _Block, artifacts: Path | None, number: int) -> str | None:
    """Leave the binary data of a block as a file, and give its name; None where there is none."""
    data = holder.get("data", holder.get("blob"))
    if artifacts is None or not isinstance(data, str):
        return None
    kind = holder.get("mimeType")
    ending = mimetypes.guess_extension(kind) if isinstance(kind, str) else None
    name = f"content-{number}{ending or '.bin'}"
    try:
        (artifacts / name).write_bytes(base64.b64decode(data, validate=True))
    except (OSError, binascii.Error):
        return None
    return name


def _blocks(result: Mapping[str, Any]) -> list[_Block]:
    return [
        cast("_Block", block) for block in cast("list[Any]", result["content"]) if isinstance(block, dict)
    ]
