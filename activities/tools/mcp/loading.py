"""The tools of MCP servers that a file names, or everything that is wrong with them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from activities.tools.environment import passed_on
from activities.tools.mcp.absent import ServerAway
from activities.tools.mcp.configuration import SERVERS, configured_servers, servers_of_file
from activities.tools.mcp.definitions import left_out, tools_of
from activities.tools.mcp.server import McpServer
from activities.tools.mcp.tool import McpTool
from activities.tools.problem import Problem


@dataclass(frozen=True)
class McpFile:
    """A JSON file that names MCP servers, as `--tools` takes it."""

    path: Path

    def __str__(self) -> str:
        return str(self.path.absolute())


@dataclass(frozen=True)
class McpServers:
    """MCP servers that stand under `mcpServers` in a file of another kind."""

    file: Path
    servers: JsonValue = field(hash=False)

    def __str__(self) -> str:
        return f"{self.file.absolute()}:{SERVERS}"


McpTools = Iterator[McpTool | Problem]
"""Tools, and everything that is wrong; a server without an answer is a `ServerAway`."""


def tools_of_mcp(source: McpFile | McpServers, *, environment: Mapping[str, str]) -> McpTools:
    """Load the tools of all servers of a source; `environment` is the worker's.

    Each server is started, or reached, and asked for its tools, all of them at once; in the current
    directory, unless it has one of its own.
    """
    servers: list[McpServer] = []
    for one in _configured(source, environment):
        if isinstance(one, Problem):
            yield one
        else:
            servers.append(one)
    if not servers:
        return
    # The SDK takes 0.7 s to be imported: only who names a server pays for it.
    from activities.tools.mcp.listing import Listing, listings

    answers = listings(servers, environment=passed_on(environment), directory=Path.cwd())
    for server, answer in zip(servers, answers, strict=True):
        match answer:
            case Listing(tools=tools, misdescribed=misdescribed):
                if not tools and not misdescribed:
                    yield Problem(server.place, "has no tools", server.field, warning=True)
                yield from tools_of(server, tools)
                yield from (left_out(server, name, reason) for name, reason in misdescribed)
            case _:
                yield ServerAway(server.place, f"gives no tools: {answer}", server.field, server=server)


def _configured(
    source: McpFile | McpServers, environment: Mapping[str, str]
) -> Iterator[McpServer | Problem]:
    match source:
        case McpFile(path=path):
            yield from servers_of_file(path, environment)
        case McpServers(file=file, servers=servers):
            yield from configured_servers(servers, place=str(file.absolute()), variables=environment)
