"""What a function in the worker's process prints: it goes to stderr, for stdout is the command's own."""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TextIO

from surefoot.current_call import CURRENT_CALL

HIDE: ContextVar[Callable[[str], str]] = ContextVar("surefoot_hide", default=str)
"""Takes secrets out of what is printed on behalf of a call."""


class SharedStdout:
    """Stdout as it was for everybody but the functions that serve a call."""

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout

    def write(self, text: str) -> int:
        """Write to stdout; on behalf of a call, to stderr, and without secrets."""
        if CURRENT_CALL.get(None) is None:
            return self._stdout.write(text)
        sys.stderr.write(HIDE.get()(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever it is that stdout has
        return getattr(self._stdout, name)


def share_stdout() -> None:
    """Keep stdout from what functions print; a second time does nothing.

    With `-o json` and `-o jsonl` a line of theirs would be one that no program can read.
    """
    if not isinstance(sys.stdout, SharedStdout):
        shared: Any = SharedStdout(sys.stdout)
        sys.stdout = shared
