import base64
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from activities.tools.mcp.results import outcome_of
from surefoot.artifact import Excerpt
from surefoot.definition import JsonSchema, ToolDefinition
from surefoot.failures import NOTHING
from surefoot.outcome import ToolFailure, ToolSuccess

SUM: JsonSchema = {"type": "object", "properties": {"sum": {"type": "integer"}}}
DATA = base64.b64encode(b"\x00\x01\x02").decode()


def _outcome(
    result: dict[str, Any],
    *,
    schema: JsonSchema | None = None,
    artifacts: Path | None = None,
    seen: bool = True,
) -> ToolSuccess | ToolFailure:
    definition = ToolDefinition(
        name="s__t", description="Does.", input_schema={"type": "object"}, output_schema=schema
    )
    return outcome_of({"content": [], **result}, definition, NOTHING, artifacts=artifacts, seen=seen)


@pytest.mark.parametrize(
    ("block", "told", "kept"),
    [
        pytest.param(
            {"type": "text", "text": "hey", "annotations": {"priority": 1}},
            {"type": "text", "text": "hey"},
            {},
            id="text",
        ),
        pytest.param(
            {"type": "audio", "mimeType": "audio/mpeg", "data": DATA},
            {"type": "audio", "mimeType": "audio/mpeg", "artifact": "content_1_artifact"},
            {"content-1.mp3": b"\x00\x01\x02"},
            id="a sound",
        ),
        pytest.param(
            {"type": "image", "mimeType": "image/unheard-of", "data": DATA},
            {"type": "image", "mimeType": "image/unheard-of", "artifact": "content_1_artifact"},
            {"content-1.bin": b"\x00\x01\x02"},
            id="a picture of an unknown kind",
        ),
        pytest.param(
            {"type": "image", "mimeType": "image/png", "data": "no base64!"},
            {"type": "image", "mimeType": "image/png", "data": "no base64!"},
            {},
            id="a picture that is none",
        ),
        pytest.param(
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "hey"}},
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "hey"}},
            {},
            id="a resource of text",
        ),
        pytest.param(
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "image/gif", "blob": DATA}},
            {
                "type": "resource",
                "uri": "file:///a",
                "mimeType": "image/gif",
                "artifact": "content_1_artifact",
            },
            {"content-1.gif": b"\x00\x01\x02"},
            id="a resource of bytes",
        ),
        pytest.param(
            {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
            {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
            {},
            id="a link",
        ),
    ],
)
def test_content_is_told_and_what_is_no_text_is_left_as_a_file(
    block: dict[str, JsonValue], told: dict[str, JsonValue], kept: dict[str, bytes], tmp_path: Path
) -> None:
    outcome = _outcome({"content": [block]}, artifacts=tmp_path)
    named = {"content_1_artifact": next(iter(kept))} if kept else {}
    assert outcome == ToolSuccess(tool="s__t", result={"content": [told], **named})
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == kept


def test_without_a_place_for_files_content_is_told_as_it_is() -> None:
    picture: JsonValue = {"type": "image", "mimeType": "image/png", "data": DATA}
    assert _outcome({"content": [picture]}) == ToolSuccess(tool="s__t", result={"content": [picture]})


@pytest.mark.parametrize(
    ("schema", "seen", "result"),
    [
        pytest.param(SUM, True, {"sum": 3}, id="of a tool with an outputSchema"),
        pytest.param(None, False, {"sum": 3}, id="of a tool that was never described"),
        pytest.param(
            None, True, {"content": [], "structuredContent": {"sum": 3}}, id="that nobody has promised"
        ),
    ],
)
def test_structured_content_is_the_answer(schema: JsonSchema | None, seen: bool, result: JsonValue) -> None:
    outcome = _outcome({"structuredContent": {"sum": 3}}, schema=schema, seen=seen)
    assert outcome == ToolSuccess(tool="s__t", result=result)


@pytest.mark.parametrize(
    ("result", "error"),
    [
        pytest.param(
            {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            {"error": "one\ntwo"},
            id="its texts",
        ),
        pytest.param({}, {"error": "the tool says that it failed, and not why"}, id="nothing at all"),
        pytest.param(
            {"content": [{"type": "text", "text": "no"}], "structuredContent": {"code": 5}},
            {"error": "no", "structuredContent": {"code": 5}},
            id="something structured, too",
        ),
    ],
)
def test_an_error_of_the_tool_is_an_answer_that_no_schema_describes(
    result: dict[str, JsonValue], error: JsonValue
) -> None:
    outcome = _outcome({**result, "isError": True}, schema=SUM)
    assert (type(outcome), outcome) == (Excerpt, Excerpt(tool="s__t", result=error))
