"""Agent files by name: those of a project, then those of its user."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from activities.tools.sources import AGENT_SUFFIX

_NO_AGENT = "README.md"


class NoSuchAgentError(LookupError):
    """Says in one sentence where an agent was looked for, and which name is close to it."""


def agent_path(name: str, directories: Sequence[Path]) -> Path:
    """Give the file of an agent: what has a `/` or ends in `.md` is its path, all else the name of a file.

    Raises:
        NoSuchAgentError: no directory has a file of this name. Where a path leads is not looked at.
    """
    if "/" in name or name.endswith(AGENT_SUFFIX):
        return Path(name)
    found = named_agents(directories)
    if name in found:
        return found[name]
    close = get_close_matches(name, found, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    places = " or ".join(str(directory / f"{name}{AGENT_SUFFIX}") for directory in directories)
    raise NoSuchAgentError(f"there is no agent '{name}': no file {places}{hint}")


def named_agents(directories: Sequence[Path]) -> dict[str, Path]:
    """Give the files that names stand for, whatever is in them; of two of one name the first directory's."""
    found: dict[str, Path] = {}
    for directory in directories:
        for path in _files(directory):
            found.setdefault(path.stem, path)
    return found


def _files(directory: Path) -> Iterator[Path]:
    try:
        paths = sorted(directory.iterdir())
    except OSError:
        return
    for path in paths:
        if path.name.endswith(AGENT_SUFFIX) and path.stem and path.name != _NO_AGENT:
            yield path
