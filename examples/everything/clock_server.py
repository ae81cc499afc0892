"""An MCP server over HTTP, of which the run knows only an address: `python clock_server.py PORT`."""

import sys
from datetime import UTC, datetime

from mcp.server import MCPServer

server = MCPServer("clock")


@server.tool()
def now() -> str:
    """Tell the time, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
