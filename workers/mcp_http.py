"""MCP over HTTP, to clients on this machine."""

import logging
import socket
from typing import Any

import uvicorn
from mcp.server import Server

from workers.server_ports import PortTakenError

HOST = "127.0.0.1"
PATH = "/mcp"

_GRACE_SECONDS = 1
"""How long a client may take to read its last answer once the server is told to stop."""


def listen(port: int) -> socket.socket:
    """Take a port, or any free one for 0.

    Raises:
        PortTakenError: somebody else has it.
    """
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise PortTakenError(port, error.strerror or str(error)) from error


async def serve_http(server: Server[dict[str, Any]], listening: socket.socket) -> None:
    """Serve until a signal ends it, and then nothing of any call lives on.

    Requests that a browser makes for a page from elsewhere are refused.
    """
    # It tells of each session, and so would be most of what is logged.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST)
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="on",
    )
    await uvicorn.Server(config).serve(sockets=[listening])
