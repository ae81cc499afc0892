"""Keeping the embedded server up while somebody stays who promised it."""

from contextlib import AsyncExitStack
from datetime import timedelta

import structlog

from workers.embedded_server import EmbeddedServer, embedded_server
from workers.settings import Settings
from workers.waiting import until

_AS_LONG_AS_IT_TAKES = timedelta(days=10_000)
_LOOK_EVERY = timedelta(seconds=0.5)

log: structlog.stdlib.BoundLogger = structlog.get_logger("surefoot.server")


async def keep_up(server: EmbeddedServer, settings: Settings) -> None:
    """Start the server again, on its database and its ports, whenever its process has ended; until cancelled.

    Raises EmbeddedServerError and PortTakenError when it cannot be started again.
    """
    async with AsyncExitStack() as memberships:
        while True:
            await until(server.process.is_gone, within=_AS_LONG_AS_IT_TAKES, every=_LOOK_EVERY)
            ports = server.process.ports
            log.warning("the server has ended, and is started again", address=server.address)
            again = embedded_server(settings, port=ports.port, ui_port=ports.ui_port)
            server = await memberships.enter_async_context(again)
