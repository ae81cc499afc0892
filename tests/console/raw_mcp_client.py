"""An MCP client that says whatever a test wants it to, one line at a time."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.console.command import PATIENCE_SECONDS, SUREFOOT

HELLO = (
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)


class RawClient:
    """The command as a subprocess, from its start to its end."""

    def __init__(self, *arguments: object, directory: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [SUREFOOT, "mcp", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )

    def say(self, *messages: Mapping[str, Any] | bytes) -> None:
        assert self._process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def call(self, number: int, tool: str, **params: object) -> None:
        self.say(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": tool, "arguments": params},
            }
        )

    def hear(self) -> dict[str, Any]:
        """Give the next message."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def url(self) -> str:
        """Give the address that it tells of on stderr."""
        assert self._process.stderr is not None
        (url,) = re.findall(r"http://[^\s\"]+", self._process.stderr.readline().decode())
        return url

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def leave(self) -> tuple[int, bytes, bytes]:
        """Close stdin; gives the exit code, and what was said on stdout and stderr meanwhile."""
        said, complained = self._process.communicate(timeout=PATIENCE_SECONDS)
        return self._process.returncode, said, complained

    def ends(self) -> int:
        """Wait for an end that is not asked for by closing stdin, and give the exit code."""
        return self._process.wait(PATIENCE_SECONDS)

    def clean_up(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
