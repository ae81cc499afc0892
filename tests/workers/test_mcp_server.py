from pathlib import Path
from typing import Any, cast

import pytest
from mcp_types import CallToolRequestParams, CallToolResult, TextContent

from surefoot.definition import ToolDefinition
from surefoot.strict_json import strict_json
from workers.local_calls import LocalCalls
from workers.mcp_server import Context, described, mcp_server
from workers.mcp_stdio import NoMessage, read_message


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        pytest.param({"a": float("nan")}, "not JSON: NaN is not JSON", id="no number"),
        pytest.param({"a": "\ud800"}, "not JSON: a lone surrogate in a string", id="no text"),
        pytest.param({"a": 10**5_000}, "not JSON: Exceeds the limit", id="a number that is too long"),
    ],
)
async def test_arguments_that_are_no_strict_json_are_invalid_params(
    arguments: dict[str, Any], problem: str
) -> None:
    calls = LocalCalls({}, directory=Path("/"), artifacts=None, kind="test")
    entry = mcp_server(calls, version="1").get_request_handler("tools/call")
    assert entry is not None
    # Nothing of the context is looked at.
    context = cast(Context, None)

    result = await entry.handler(context, CallToolRequestParams(name="x", arguments=arguments))

    assert isinstance(result, CallToolResult)
    (block,) = result.content
    assert isinstance(block, TextContent)
    told = cast(dict[str, Any], strict_json(block.text))
    assert (result.is_error, told["error_code"], problem in told["error"]) == (True, "INVALID_PARAMS", True)


@pytest.mark.parametrize(
    ("schema", "is_shown"),
    [
        pytest.param({"type": "object", "properties": {}}, True, id="an object"),
        pytest.param({"type": "array"}, False, id="a list"),
        pytest.param({"anyOf": [{"type": "object"}, {"type": "null"}]}, False, id="perhaps an object"),
        pytest.param(None, False, id="none"),
    ],
)
def test_only_a_schema_of_objects_is_shown(schema: dict[str, Any] | None, is_shown: bool) -> None:
    definition = ToolDefinition(
        name="x", description="Do.", input_schema={"type": "object"}, output_schema=schema
    )
    assert described(definition).output_schema == (schema if is_shown else None)


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        pytest.param(b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": NaN}\n', 1, -32700, id="no JSON"),
        pytest.param(b'{"jsonrpc": "2.0", "id": true, "method": 1}\n', None, -32600, id="an odd id"),
        pytest.param(b"null\n", None, -32600, id="nothing"),
        pytest.param(None, None, -32600, id="too long"),
    ],
)
def test_a_line_that_is_no_message_is_answered_to_whoever_may_have_sent_it(
    line: bytes | None, request_id: object, code: int
) -> None:
    read = read_message(line)
    assert isinstance(read, NoMessage)
    assert (read.answer.id, read.answer.error.code) == (request_id, code)
