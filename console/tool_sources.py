"""What `--tools` takes, and the tools that it stands for."""

import logging
from collections.abc import Sequence
from pathlib import Path

from activities.tools.discovery import BUILTIN, Discovery, discover_tools, source_directory
from console.errors import CommandError

_log = logging.getLogger("surefoot.tools")


def tool_sources(values: Sequence[str]) -> tuple[str, ...]:
    """Give each place once and in order: `builtin`, or an absolute path; `builtin` alone if none is named.

    Raises:
        CommandError: names every place that is not a directory.
    """
    places: dict[Path, str] = {}
    problems: list[str] = []
    for value in values or (BUILTIN,):
        source = BUILTIN if value == BUILTIN else str(Path(value).absolute())
        places.setdefault(source_directory(source).resolve(), source)
        problems += _problems(value, source_directory(source))
    if problems:
        raise CommandError("\n".join(problems))
    return tuple(places.values())


def load_tools(sources: Sequence[str]) -> Discovery:
    """Load every tool of these places; what does not stop a worker is logged as a warning.

    Raises:
        CommandError: lists every error, one per line: file, field, reason.
    """
    found = discover_tools([source_directory(source) for source in sources])
    if found.errors:
        raise CommandError("\n".join(str(problem) for problem in found.errors))
    for problem in found.problems:
        _log.warning("%s", problem)
    return found


def _problems(value: str, directory: Path) -> list[str]:
    if not value:
        # An empty variable in a shell script would mean the current directory.
        return ["--tools is empty, and needs a directory of tools or the word `builtin`"]
    if directory.is_dir():
        return []
    if directory.exists():
        return [f"{directory} is not a directory"]
    return [f"there is no such tools directory: {directory}"]
