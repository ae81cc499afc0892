"""What `--tools` names: the tools that come with Surefoot, a directory, a function, an agent, MCP servers."""

import re
from dataclasses import dataclass
from pathlib import Path

from activities.tools.functions.loading import FunctionSource
from activities.tools.mcp.loading import McpFile, McpServers

BUILTIN = "builtin"
"""The source that stands for the tools that come with Surefoot."""

BUILTIN_DIRECTORY = Path(__file__).parent / "builtin"
"""The tools that come with Surefoot: bash."""

BUILTINS: dict[str, Path] = {
    BUILTIN: BUILTIN_DIRECTORY,
    f"{BUILTIN}:files": Path(__file__).parent / "builtin_files",
}
"""All sources that stand for tools that come with Surefoot, and where these are."""

AGENT_SUFFIX = ".md"
"""How the name of an agent file ends."""

MCP_SUFFIX = ".json"
"""How the name of a file ends that names MCP servers."""

_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_FUNCTION = re.compile(rf"(?:(?P<directory>/.*):)?(?P<module>{_DOTTED}):(?P<attribute>{_DOTTED})", re.DOTALL)


def source_directory(source: str) -> Path:
    """Give the directory that a source of tools stands for: `builtin`, `builtin:files`, or a path."""
    return BUILTINS.get(source, Path(source))


@dataclass(frozen=True)
class AgentSource:
    """An agent file, offered as a tool."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


Place = Path | FunctionSource | AgentSource | McpFile | McpServers
"""What a source stands for; a path is that of a directory."""


def source_of(text: str, *, directory: Path | None = None) -> Place:
    """Read what `--tools` takes: a word of `BUILTINS`, a directory, `module:attribute`, or one of two files.

    They are `FILE.md`, an agent's, and `FILE.json`, which names MCP servers.

    In the directory paths begin, and modules are looked for; without it, in the current one. A function may
    have its own before it: `/directory:module:attribute`. A directory whose name looks like a function's is
    meant by a path: `./module:attribute`.
    """
    written = _FUNCTION.fullmatch(text)
    if written is not None and written["module"] != BUILTIN:
        at = Path(written["directory"]) if written["directory"] else directory or Path.cwd()
        return FunctionSource(at, written["module"], written["attribute"])
    place = (directory or Path()) / source_directory(text)
    if text.endswith(MCP_SUFFIX) and not place.is_dir():
        return McpFile(place)
    return AgentSource(place) if text.endswith(AGENT_SUFFIX) else place
