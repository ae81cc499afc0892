"""The text of a file that an author wrote, or in words why it cannot be read."""

from pathlib import Path
from stat import S_ISREG

from activities.agents.mistake import Mistake
from activities.tools.problem import Problem
from surefoot.sizes import count


def read_text(path: Path, *, limit_bytes: int, of: str) -> str | Problem:
    """Read a file of UTF-8, with or without a byte order mark; `of` says what it should be."""
    try:
        # A pipe would be waited for, and a device has no end.
        if not S_ISREG(path.stat().st_mode):
            return Problem(path, f"is not a file, and {of} is meant")
        with path.open("rb") as file:
            content = file.read(limit_bytes + 1)
    except FileNotFoundError:
        return Problem(path, f"there is no such file; {of} is meant")
    except (OSError, ValueError) as error:
        return Problem(path, f"cannot be read: {error.strerror if isinstance(error, OSError) else error}")
    if len(content) > limit_bytes:
        return Problem(path, f"is larger than {count(limit_bytes)}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Mistake(content.count(b"\n", 0, error.start) + 1, "is not UTF-8").problem(path)
