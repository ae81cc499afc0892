"""Where tools themselves are, which no executable may write: a worker reads and starts them unwalled."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

_LINE = re.compile(r":\d+$")


class Found(Protocol):
    """A tool, as far as it says where it is from."""

    @property
    def origin(self) -> str:
        """A file, a file and a line after a colon, or what is no file."""
        ...


def files_of(tools: Iterable[Found]) -> tuple[Path, ...]:
    """Give the files and directories that tools are made of, as far as they are there."""
    return tuple(dict.fromkeys(path for tool in tools for path in _files_of(tool)))


def is_executable(tool: object) -> bool:
    """Tell whether a tool is a file that is started, on this machine."""
    return isinstance(getattr(tool, "executable", None), Path)


def _files_of(tool: Found) -> Iterator[Path]:
    origin = Path(_LINE.sub("", tool.origin))
    if origin.is_absolute() or origin.exists():
        yield from (origin.absolute(), origin.absolute().parent)
    executable = getattr(tool, "executable", None)
    if isinstance(executable, Path):
        yield from (executable, executable.parent)
