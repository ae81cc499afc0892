"""How an MCP server's tool looks to the model."""

from collections.abc import Iterable, Iterator

from pydantic import JsonValue, ValidationError

from activities.tools.mcp.server import McpServer
from activities.tools.mcp.tool import McpTool
from activities.tools.problem import Problem
from surefoot.definition import ToolDefinition

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def tools_of(server: McpServer, listed: Iterable[dict[str, JsonValue]]) -> Iterator[McpTool | Problem]:
    """Give a tool for each that the server lists; one that cannot be used is left out, with a warning."""
    seen: set[JsonValue] = set()
    for description in listed:
        name = str(description["name"])
        if name in seen:
            yield left_out(server, name, "is listed twice; the first one counts")
            continue
        seen.add(name)
        try:
            yield McpTool(_definition(server, name, description), server, name)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            yield left_out(server, name, f"{field}: {_reason(server, name, first['type'], first['msg'])}")


def left_out(server: McpServer, name: str, reason: str) -> Problem:
    """Say that a tool of the server is not offered."""
    return Problem(server.place, f"is left out: {reason}", f"{server.field}.{name}", warning=True)


def _reason(server: McpServer, name: str, kind: str, message: str) -> str:
    if kind == "string_pattern_mismatch":
        return f"'{server.prefix}{name}' is no name of letters, digits, '_' and '-', at most 64"
    return message.removeprefix("Value error, ")


def _definition(server: McpServer, name: str, listed: dict[str, JsonValue]) -> ToolDefinition:
    hints = listed.get("annotations")
    annotations = {hint: hints[hint] for hint in _HINTS if hint in hints} if isinstance(hints, dict) else {}
    # As the protocol has it: a server that says nothing of it may reach anywhere.
    if annotations.get("openWorldHint") is None:
        annotations["openWorldHint"] = True
    hinted = hints.get("title") if isinstance(hints, dict) else None
    title = listed.get("title") or hinted
    described = listed.get("description") or title or f"The tool {name} of the MCP server {server.name}."
    return ToolDefinition.model_validate(
        {
            "name": f"{server.prefix}{name}",
            "description": described,
            "inputSchema": listed["inputSchema"],
            "outputSchema": listed.get("outputSchema"),
            "annotations": {"title": title, **annotations},
            "timeoutSeconds": server.timeout_seconds,
            "exclusive": server.exclusive,
        }
    )
