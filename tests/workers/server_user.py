"""A command that uses the embedded server, in a process of its own."""

import os
import subprocess
import sys

from workers.settings import Settings

SCRIPT = """
import asyncio, os, sys
from workers.embedded_server import embedded_server
from workers.settings import load_settings

async def use():
    async with embedded_server(load_settings()) as server:
        print(server.address, flush=True)
        await asyncio.to_thread(sys.stdin.read)

try:
    asyncio.run(use())
except KeyboardInterrupt:
    pass
os._exit(0)  # the SDK's threads may crash an interpreter that ends
"""


class ServerUser:
    """Uses the server of the settings' state directory from its start until it leaves or is killed."""

    def __init__(self, settings: Settings) -> None:
        variables = {"SUREFOOT_STATE_DIRECTORY": str(settings.state_directory), "A_SECRET": "hunter2"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
        )

    def address(self) -> str:
        """Give the server's address, once it answers."""
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def leave(self) -> None:
        """Return once it has left and ended."""
        self._process.communicate(timeout=30)

    def interrupt(self, signal_number: int) -> None:
        """Return once the signal has ended it."""
        self._process.send_signal(signal_number)
        self._process.communicate(timeout=30)
