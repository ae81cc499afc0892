"""An open session with an MCP server, on which calls are made."""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from mcp import ClientSession, types
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from pydantic import JsonValue, ValidationError

from activities.interface import ToolCallInput
from activities.tools.mcp.endings import Answered, CallEnding, CannotStartError, Unreadable
from activities.tools.mcp.protocol_errors import ending_of, first_flaw, said
from activities.tools.mcp.wire import Wire
from surefoot.strict_json import NotStrictJsonError, encode_json, strict_json

MAX_PAGES = 100
"""Pages of a list of tools; more are no list any more."""

CALL_ID_META = "surefoot/callId"
"""Names the call in the `_meta` of its request: the same for every attempt, unlike any other call's."""

Listed = dict[str, JsonValue]
"""A tool as the server describes it, in the protocol's form."""


class Dispatcher(JSONRPCDispatcher):
    """The SDK's, but for lists of tools: one that is described wrongly does not take the others with it."""

    def __init__(self, *streams: Any) -> None:  # noqa: ANN401  the SDK's own pair
        super().__init__(*streams)
        self.misdescribed: list[tuple[str, str]] = []
        """The names of tools that were left out, as far as they have one, and the reasons."""

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        **more: Any,  # noqa: ANN401  as the SDK has it
    ) -> dict[str, Any]:
        """Send a request and give its result."""
        result = await super().send_raw_request(method, params, opts, **more)
        listed = result.get("tools")
        if method != "tools/list" or not isinstance(listed, list):
            return result
        return {**result, "tools": [one for one in cast("list[object]", listed) if self._is_described(one)]}

    def _is_described(self, tool: object) -> bool:
        try:
            described = types.Tool.model_validate(tool, by_name=False)
        except ValidationError as error:
            self.misdescribed.append((_name(tool), first_flaw(error)))
            return False
        if described.input_schema.get("type") != "object":
            self.misdescribed.append((described.name, "inputSchema: its 'type' must be 'object'"))
            return False
        return True


class Connection:
    """A session that has been agreed upon with its server."""

    def __init__(self, session: ClientSession, dispatcher: Dispatcher, wire: Wire | None) -> None:
        self._session = session
        self._dispatcher = dispatcher
        self._wire = wire

    async def call(self, tool: str, call: ToolCallInput) -> CallEnding:
        """Make a call of the server's tool of this name; cancelling it tells the server so."""
        request = types.CallToolRequest(
            params=types.CallToolRequestParams(
                name=tool, arguments=dict(call.params), _meta={CALL_ID_META: call.call_id}
            )
        )
        try:
            result = await self._session.send_request(
                request, types.CallToolResult, progress_callback=_ignore_progress
            )
            return Answered(await self._json(result))
        except MCPError as error:
            return ending_of(error, self._wire)
        except ValidationError as error:
            return Unreadable(f"it is no result of a tool call: {first_flaw(error)}")
        except (NotStrictJsonError, ValueError) as error:
            return Unreadable(f"it is no strict JSON: {error}")

    async def _json(self, result: types.CallToolResult) -> dict[str, JsonValue]:
        # As Python, for as JSON it would turn Infinity into null.
        value: dict[str, JsonValue] = result.model_dump(by_alias=True, exclude_none=True)
        if self._wire is not None:
            # Only what came in lines has been read strictly; a large answer takes tenths of a second.
            await asyncio.to_thread(lambda: strict_json(encode_json(value)))
        return value

    async def answers(self) -> bool:
        """Wait until the server answers a ping, be it with an error; False when the session is at its end."""
        try:
            await self._session.send_request(types.PingRequest(), types.EmptyResult)
        except MCPError as error:
            return error.code != types.CONNECTION_CLOSED
        except ValidationError:
            return True
        return True

    async def tools(self) -> tuple[list[Listed], list[tuple[str, str]]]:
        """List every tool of the server, page by page, and those that it describes wrongly, with the reasons.

        Raises:
            CannotStartError: it gives no such list.
        """
        tools: list[Listed] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self._page(cursor)
            tools += [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tools, self._dispatcher.misdescribed
        raise CannotStartError(f"its list of tools has more than {MAX_PAGES} pages")

    async def _page(self, cursor: str | None) -> types.ListToolsResult:
        params = types.PaginatedRequestParams(cursor=cursor)
        try:
            return await self._session.list_tools(params=params)
        except MCPError as error:
            raise CannotStartError(f"it lists no tools: {said(ending_of(error, self._wire))}") from None
        except ValidationError as error:
            raise CannotStartError(
                f"its list of tools is not one of the protocol: {first_flaw(error)}"
            ) from None


async def _ignore_progress(progress: float, total: float | None, message: str | None) -> None:
    """Do nothing: that there is someone who wants to know makes a server tell, and that is overheard."""


def _name(tool: object) -> str:
    return str(cast("Listed", tool).get("name", "?"))[:64] if isinstance(tool, dict) else "?"
