"""Tools of servers that are away: a run that goes on knows them, and a call finds out who is back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from activities.tools.executor import Tool
from activities.tools.mcp.server import McpServer
from activities.tools.mcp.tool import McpTool
from activities.tools.problem import Problem
from surefoot.definition import ToolDefinition


@dataclass(frozen=True, kw_only=True)
class ServerAway(Problem):
    """A server that gave no tools when it was asked: whoever goes on with a run does not wait for it."""

    server: McpServer


class ToolsWithAbsent(Mapping[str, Tool]):
    """Tools by name; one that begins with the name of an absent server is that server's, and not listed."""

    def __init__(self, tools: Mapping[str, Tool], absent: Sequence[McpServer]) -> None:
        self._tools = tools
        self._absent = absent

    def __getitem__(self, name: str) -> Tool:
        if name in self._tools:
            return self._tools[name]
        for server in self._absent:
            if name.startswith(server.prefix):
                return _unseen(server, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def _unseen(server: McpServer, name: str) -> McpTool:
    """A tool that nobody here has seen: the run that calls it knows more, and checks params and answer."""
    definition = ToolDefinition(
        name=name,
        description=f"A tool of the MCP server {server.name}.",
        input_schema={"type": "object"},
        timeout_seconds=server.timeout_seconds,
    )
    return McpTool(definition, server, name.removeprefix(server.prefix), seen=False)
