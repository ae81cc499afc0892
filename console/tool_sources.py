"""What `--tools` takes, and the tools that it stands for."""

import logging
from collections.abc import Sequence
from pathlib import Path

from activities.agents.agent_file import AgentFile
from activities.tools.discovery import Discovery, discover_tools, discover_tools_of
from activities.tools.functions.loading import FunctionSource
from activities.tools.mcp.loading import McpFile, McpServers
from activities.tools.sources import BUILTIN, BUILTINS, AgentSource, Place, source_of
from console.errors import CommandError
from workers.environment import process_environment

_log = logging.getLogger("surefoot.tools")


def tool_sources(values: Sequence[str]) -> tuple[str, ...]:
    """Give each source once and in order, so that it means the same in another directory; unset, `builtin`.

    Raises:
        CommandError: names every place that is not a directory.
    """
    places: dict[Place, str] = {}
    problems: list[str] = []
    for value in values or (BUILTIN,):
        match source_of(value):
            case FunctionSource() as source:
                places.setdefault(source, str(source))
            case AgentSource(path=path):
                places.setdefault(AgentSource(path.resolve()), str(path.absolute()))
            case McpFile(path=path) as file:
                places.setdefault(McpFile(path.absolute()), str(file))
            case McpServers() as servers:
                places.setdefault(servers, str(servers))
            case Path() as directory:
                source = value if value in BUILTINS else str(directory.absolute())
                places.setdefault(directory.resolve(), source)
                problems += _problems(value, directory.absolute())
    if problems:
        raise CommandError("\n".join(problems))
    return tuple(places.values())


def load_tools(sources: Sequence[str]) -> Discovery:
    """Load every tool of these places; what does not stop a worker is logged as a warning.

    Raises:
        CommandError: lists every error, one per line: file, field, reason.
    """
    return _usable(discover_tools(sources, environment=process_environment()))


def load_tools_of(agent: AgentFile) -> Discovery:
    """Load every tool that an agent's file names, as `load_tools` does."""
    return _usable(discover_tools_of(agent, environment=process_environment()))


def _usable(found: Discovery) -> Discovery:
    if found.errors:
        raise CommandError("\n".join(str(problem) for problem in found.errors))
    for problem in found.problems:
        _log.warning("%s", problem)
    return found


def _problems(value: str, directory: Path) -> list[str]:
    if not value:
        # An empty variable in a shell script would mean the current directory.
        return [f"--tools is empty: name a directory, module:attribute, FILE.json, FILE.md, {_words('or')}"]
    if value.startswith(f"{BUILTIN}:") and not directory.exists():
        return [f"no tools that come with Surefoot are called `{value}`: there are {_words('and')}"]
    if directory.is_dir():
        return []
    if directory.suffix == ".py" and directory.exists():
        return [f"{directory} is a file: name the directory it is in, or its functions as module:attribute"]
    if directory.exists():
        return [f"{directory} is not a directory"]
    return [f"there is no such tools directory: {directory}"]


def _words(conjunction: str) -> str:
    return f" {conjunction} ".join(f"`{word}`" for word in BUILTINS)
