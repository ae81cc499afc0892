"""What a server says beside its answers: its stderr, its log messages, and what is no message at all."""

from collections.abc import Generator
from contextlib import contextmanager

from activities.tools.capture import Captures, StreamCapture

_TAIL_BYTES = 2_000


class Overheard:
    """Lets every call that is under way hear what its server says; whom it is meant for, nobody knows."""

    def __init__(self) -> None:
        self._listeners: list[Captures] = []
        self._beginning = StreamCapture(_TAIL_BYTES, whole_bytes=0)

    @contextmanager
    def by(self, captures: Captures) -> Generator[None]:
        """Have these captures hear everything, as long as this lasts."""
        self._listeners.append(captures)
        try:
            yield
        finally:
            self._listeners.remove(captures)

    @property
    def beginning(self) -> str:
        """What was said on stderr since the server was started, its ends if it is much."""
        return self._beginning.shown(_TAIL_BYTES).strip()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the server's stderr."""
        self._beginning.feed(chunk)
        for captures in self._listeners:
            captures.stderr.feed(chunk)

    def log(self, line: str) -> None:
        """Take a message that the server logs."""
        self.feed(f"{line}\n".encode("utf-8", "replace"))

    def noise(self, line: bytes) -> None:
        """Take what stood on stdout, and is no message."""
        for captures in self._listeners:
            captures.stdout.feed(line + b"\n")
