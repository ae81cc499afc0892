"""A codec server on a socket, until it is cancelled."""

import asyncio
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn

from workers.codec_server.application import CodecApplication
from workers.server_ports import PortTakenError

_GRACE_SECONDS = 1
"""How long an answer may take that is on its way when the server is told to stop."""


def listen(host: str, port: int) -> socket.socket:
    """Take a port of an IP address, or any free one for 0.

    Raises:
        PortTakenError: somebody else has it.
    """
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise PortTakenError(port, error.strerror or str(error)) from error


async def serve_codec(application: CodecApplication, listening: socket.socket) -> None:
    """Answer until cancelled; signals are left to whoever awaits this."""
    config = uvicorn.Config(
        application.routes(),
        log_config=None,
        log_level="warning",
        access_log=False,
        # Else whoever asks from this machine says what address it has.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="off",
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    finally:
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield
