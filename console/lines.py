"""Writing text to a stream that may not be able to carry all of it."""

from typing import TextIO

from console.errors import CommandError
from console.exit_codes import ExitCode


def write_line(stream: TextIO, line: str) -> None:
    """Write one line, at once; what the stream's encoding cannot carry is written as an escape.

    Raises:
        BrokenPipeError: nobody reads the stream any more.
        CommandError: it cannot be written for another reason, such as a full disk.
    """
    try:
        _write(stream, line)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CommandError(
            f"what was to be printed is lost: {error.strerror}", ExitCode.RUN_FAILED
        ) from error


def _write(stream: TextIO, line: str) -> None:
    try:
        stream.write(f"{line}\n")
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(f"{line.encode(encoding, 'backslashreplace').decode(encoding)}\n")
    stream.flush()
