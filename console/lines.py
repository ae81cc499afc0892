"""Writing text to a stream that may not be able to carry all of it."""

from typing import TextIO


def write_line(stream: TextIO, line: str) -> None:
    """Write one line, at once; what the stream's encoding cannot carry is written as an escape."""
    try:
        stream.write(f"{line}\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(f"{line.encode(encoding, 'backslashreplace').decode(encoding)}\n")
    stream.flush()
