"""Our tools for any MCP client: each call is checked, run and ended as a run's would be."""

import asyncio
import json
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import JsonValue

from surefoot.definition import ToolDefinition
from surefoot.failures import invalid_params
from surefoot.outcome import NEVER_ACTED, ToolFailure, ToolSuccess, envelope
from surefoot.prompt import native_description
from surefoot.strict_json import encode_json, strict_json
from workers.local_calls import LocalCalls

INSTRUCTIONS = (
    "A result that is marked as an error means that there is no valid answer from the tool: it is one JSON "
    "object whose `error` and `error_code` say why, and whose `stdout` and `stderr` hold what was captured. "
    "The call may have taken effect all the same, except for "
    + ", ".join(sorted(NEVER_ACTED))
    + ' and an error that says "could not be started": look before you repeat it. Any other result is the '
    "tool's answer; if the operation itself failed, the answer says so."
)

Context = ServerRequestContext[dict[str, Any]]


def mcp_server(calls: LocalCalls, *, version: str) -> Server[dict[str, Any]]:
    """Give a server of these tools; it is yet to be connected to something."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[described(definition) for definition in calls.definitions])

    async def call_tool(_: Context, params: CallToolRequestParams) -> CallToolResult:
        try:
            given = strict_json(json.dumps(params.arguments or {}))
        except (ValueError, RecursionError) as error:
            return result_of(invalid_params(params.name, [f"not JSON: {error}"]))
        return result_of(await _uncancelled(calls, params.name, given))

    return Server(
        "surefoot",
        version=version,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def described(definition: ToolDefinition) -> Tool:
    """Give a definition as MCP has it; what it has no field for is in the description, as for our models."""
    hints, answer = definition.annotations, definition.output_schema
    return Tool(
        name=definition.name,
        title=hints.title,
        description=native_description(definition),
        input_schema=definition.input_schema,
        # MCP knows structured answers that are objects, and no others.
        output_schema=answer if answer is not None and answer.get("type") == "object" else None,
        annotations=ToolAnnotations(
            title=hints.title,
            read_only_hint=hints.read_only_hint,
            destructive_hint=hints.destructive_hint,
            idempotent_hint=hints.idempotent_hint,
            open_world_hint=hints.open_world_hint,
        ),
    )


def result_of(outcome: ToolSuccess | ToolFailure) -> CallToolResult:
    """Give an outcome as MCP has it; a failure of any kind is one that the client shows to its model.

    An unknown tool and bad params could be errors of the protocol, too. But only some clients tell their
    model of those, and it alone can mend the call.
    """
    match outcome:
        case ToolFailure():
            return CallToolResult(content=[TextContent(text=envelope(outcome))], is_error=True)
        case ToolSuccess(result=answer):
            text = TextContent(text=encode_json(answer))
            return CallToolResult(
                content=[text], structured_content=answer if isinstance(answer, dict) else None
            )


async def _uncancelled(calls: LocalCalls, tool: str, params: JsonValue) -> ToolSuccess | ToolFailure:
    """Make a call. Cancelled, it is stopped first, and then the cancellation passes through."""
    running = asyncio.create_task(calls.call(tool, params))
    try:
        return await asyncio.shield(running)
    finally:
        if not running.done():
            # Cancelled once: anyio would do it again and again, until the tool's processes have gone.
            running.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({running})
