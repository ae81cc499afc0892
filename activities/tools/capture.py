"""What a tool writes, kept in bounded memory however much it is."""

import codecs
from dataclasses import dataclass

from surefoot.sizes import MAX_ANSWER_BYTES
from surefoot.truncation import join_ends

WHOLE_BYTES = MAX_ANSWER_BYTES + 1
"""Up to here a stream is kept whole: enough to read the largest answer, and to see that one is larger."""


class StreamCapture:
    """A byte stream as far as memory allows: whole while it is small, then only its head and its tail."""

    def __init__(self, ends_bytes: int, *, whole_bytes: int = WHOLE_BYTES) -> None:
        """Keep head and tail of at most `ends_bytes` each, the largest limit that can be shown."""
        self.total_bytes = 0
        self._ends_bytes = ends_bytes
        self._whole_bytes = whole_bytes
        self._whole: bytearray | None = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        # The ends hold the stream as text is shown, encoded again: valid UTF-8 whatever the tool wrote.
        self._head = bytearray()
        self._tail = bytearray()
        self._text_bytes = 0

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total_bytes += len(chunk)
        if self.total_bytes > self._whole_bytes:
            self._whole = None
        elif self._whole is not None:
            self._whole += chunk
        text = self._decoder.decode(chunk).encode()
        self._text_bytes += len(text)
        self._head += text[: self._ends_bytes - len(self._head)]
        self._tail += text
        del self._tail[: max(len(self._tail) - self._ends_bytes, 0)]

    def whole(self) -> bytes | None:
        """The stream byte for byte, or None when it was too large to be kept."""
        return None if self._whole is None else bytes(self._whole)

    def shown(self, limit_bytes: int) -> str:
        """The stream as text of at most `limit_bytes`: whole if it fits, else its ends around the marker.

        What is not UTF-8 is U+FFFD; so is a last character that has not arrived completely. A limit above
        `ends_bytes` counts as `ends_bytes`.
        """
        limit_bytes = min(limit_bytes, self._ends_bytes)
        unfinished, _ = self._decoder.getstate()
        rest = unfinished.decode(errors="replace").encode()
        total_bytes = self._text_bytes + len(rest)
        if total_bytes <= limit_bytes:
            return (self._head + rest).decode()
        # What is ignored is the character that a bounded end splits: its bytes are counted as left out.
        head = (self._head + rest).decode(errors="ignore")
        tail = (self._tail + rest).decode(errors="ignore")
        return join_ends(head, tail, total_bytes=total_bytes, limit_bytes=limit_bytes)


@dataclass(frozen=True)
class Captures:
    """Both output streams of one tool; they grow while the tool runs and can be read at any time."""

    stdout: StreamCapture
    stderr: StreamCapture
