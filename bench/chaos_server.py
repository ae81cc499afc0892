"""A Temporal server that is killed and started again on its database and its ports."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.service import RPCError

from workers.runtime import shared_runtime
from workers.server_binary import find_server_binary
from workers.server_ports import HOST, ServerPorts, free_port
from workers.server_process import ServerProcess, launch_server
from workers.settings import Settings
from workers.state_directory import StateDirectory
from workers.waiting import until
from workflows.converter import DATA_CONVERTER

READY_WITHIN = timedelta(seconds=30)
GONE_WITHIN = timedelta(seconds=10)


class MortalServer:
    """One database and one address, with a server on them most of the time."""

    def __init__(self, directory: Path) -> None:
        self._state = StateDirectory.open(directory)
        self._binary = find_server_binary(Settings(state_directory=directory))
        self._ports = ServerPorts(port=free_port(), ui_port=free_port())
        self._process: ServerProcess | None = None
        self._one_death = asyncio.Lock()

    @property
    def port(self) -> int:
        """Where it answers, each time again."""
        return self._ports.port

    async def client(self) -> Client:
        """Connect; the client survives the deaths of the server."""
        return await Client.connect(
            f"{HOST}:{self.port}", data_converter=DATA_CONVERTER, runtime=shared_runtime()
        )

    async def start(self) -> None:
        """Return once it answers; raises TimeoutError."""
        async with asyncio.timeout(READY_WITHIN.total_seconds()):
            while True:
                if self._process is None or self._process.is_gone():
                    self._process = await launch_server(self._binary, self._state, self._ports)
                with suppress(RuntimeError, RPCError):
                    await self.client()
                    return
                await asyncio.sleep(0.05)

    async def die(self, down_seconds: float) -> None:
        """Be killed, stay away for a while, and return once it answers again."""
        async with self._one_death:
            await self._kill()
            await asyncio.sleep(down_seconds)
            await self.start()

    async def _kill(self) -> None:
        if self._process is not None:
            self._process.send(signal.SIGKILL)
            await until(self._process.is_gone, within=GONE_WITHIN)

    async def stop(self) -> None:
        """End it for good."""
        await self._kill()


@asynccontextmanager
async def mortal_server(directory: Path) -> AsyncGenerator[MortalServer]:
    """Have a server with its database in the directory; it ends with the context."""
    server = MortalServer(directory)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()
