"""Who may be called on this machine: a server, a name service, and Unix sockets."""

import os
import socket
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from workers.server_ports import free_port

STOLEN = b"stolen"


@dataclass(frozen=True)
class Listeners:
    """Sockets that hear, each by another way; nothing comes to them but what a tool sends."""

    tcp: socket.socket
    udp: socket.socket
    dns: socket.socket
    path: socket.socket
    abstract: socket.socket
    caller: "Caller"

    @property
    def params(self) -> dict[str, object]:
        """Their addresses."""
        return {
            "tcp": self.tcp.getsockname(),
            "udp": self.udp.getsockname(),
            "dns": self.dns.getsockname(),
            "path_socket": self.path.getsockname(),
            "abstract_socket": os.fsdecode(self.abstract.getsockname()),
            "free_port": self.caller.port,
        }


class Caller:
    """One who calls a port again and again, until somebody answers or nobody cares any more."""

    def __init__(self) -> None:
        self.port = free_port()
        self.heard = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._call)

    def _call(self) -> None:
        while not self._over.is_set() and not self.heard:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 2) as connection:
                self.heard = connection.recv(64) == STOLEN
            self._over.wait(0.02)

    @contextmanager
    def calling(self) -> Generator[None]:
        """Call as long as this lasts."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()


def heard(listener: socket.socket) -> bool:
    """Say whether something stolen has come."""
    listener.setblocking(False)
    with suppress(BlockingIOError):
        if listener.type != socket.SOCK_STREAM:
            return listener.recv(64) == STOLEN
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(5)
            return connection.recv(64) == STOLEN
    return False


@contextmanager
def listeners(directory: Path) -> Generator[Listeners]:
    """Listen at free ports of loopback, in this directory, and at an abstract name of its own."""
    path = directory / "docker.sock"
    abstract = f"\0{path}-{time.monotonic_ns()}"
    with ExitStack() as afterwards:
        yield Listeners(
            afterwards.enter_context(_bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))),
            afterwards.enter_context(_bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))),
            afterwards.enter_context(_bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.53", 0))),
            afterwards.enter_context(_bound(socket.AF_UNIX, socket.SOCK_STREAM, str(path))),
            afterwards.enter_context(_bound(socket.AF_UNIX, socket.SOCK_STREAM, abstract)),
            Caller(),
        )


def _bound(family: int, kind: int, address: str | tuple[str, int]) -> socket.socket:
    bound = socket.socket(family, kind)
    if family == socket.AF_INET and kind == socket.SOCK_STREAM:
        # Takes data with the first packet, as many servers do.
        with suppress(OSError):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 5)
    bound.bind(address)
    if kind == socket.SOCK_STREAM:
        bound.listen()
    return bound
