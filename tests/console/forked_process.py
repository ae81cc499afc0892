"""The `surefoot` command as a process of its own that did not have to load it."""

import functools
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

ROOT = Path(__file__).parents[2]
_LENGTH_BYTES = 8


@dataclass(frozen=True)
class _ForkServer:
    process: subprocess.Popen[bytes]
    requests: socket.socket


@functools.cache
def _fork_server() -> _ForkServer:
    """Give this process's one server of forks, which ends with this process."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.console.fork_server", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
            start_new_session=True,
        )
    return _ForkServer(process, ours)


class ForkedProcess:
    """One command, with as much of `subprocess.Popen` as tests of commands need."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        stdout: BinaryIO,
        stderr: BinaryIO,
        cwd: Path,
        env: Mapping[str, str],
    ) -> None:
        """Start it in a session of its own."""
        self._told, telling = socket.socketpair()
        read, self._stdin = os.pipe()
        request = {"arguments": [*arguments], "directory": str(cwd), "environment": {**env}}
        with telling:
            _ask(request, [read, stdout.fileno(), stderr.fileno(), telling.fileno()])
        os.close(read)
        self._lines = self._told.makefile("r")
        self.pid = int(self._lines.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Give the exit code if it has ended; killed by signal n, that is -n."""
        return self._exit_code(within=0)

    def send_signal(self, number: signal.Signals) -> None:
        """Signal it, unless it has ended."""
        if self.poll() is None:
            # It may have ended since.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def communicate(self, stdin: bytes = b"", *, timeout: float | None = None) -> None:
        """Give it its stdin and wait for its end; raises TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self._write(stdin, deadline)
        if self._exit_code(within=_left(deadline)) is None:
            raise subprocess.TimeoutExpired("surefoot", timeout or 0)

    def _write(self, stdin: bytes, deadline: float | None) -> None:
        if self._stdin < 0:
            return
        with os.fdopen(self._stdin, "wb", buffering=0) as pipe, selectors.DefaultSelector() as selector:
            self._stdin = -1
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_WRITE)
            while stdin and selector.select(_left(deadline)):
                try:
                    stdin = stdin[pipe.write(stdin) or 0 :]
                except BrokenPipeError:
                    return

    def _exit_code(self, *, within: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._told, selectors.EVENT_READ)
                if selector.select(within):
                    self.returncode = int(self._lines.readline())
                    self._lines.close()
                    self._told.close()
        return self.returncode


def _ask(request: Mapping[str, object], descriptors: list[int]) -> None:
    text, requests = json.dumps(request).encode(), _fork_server().requests
    socket.send_fds(requests, [len(text).to_bytes(_LENGTH_BYTES)], descriptors)
    requests.sendall(text)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0)
