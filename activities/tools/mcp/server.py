"""An MCP server as it was configured: what starts it, or where it is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

SEPARATOR = "__"
"""Stands between the server's name and the tool's in the name that the model sees."""


@dataclass(frozen=True)
class Program:
    """A server that is started here and spoken to over its stdin and stdout."""

    command: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], hash=False, repr=False)
    """What it is given beside what every tool is given."""
    directory: str | None = None
    """Its working directory; None: the run's."""


@dataclass(frozen=True)
class Endpoint:
    """A server that is reached over streamable HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], hash=False, repr=False)


@dataclass(frozen=True)
class McpServer:
    """A server, and how calls of its tools are made."""

    name: str
    place: str
    """The file that names it."""
    reached: Program | Endpoint
    timeout_seconds: float
    """Of each call."""
    startup_seconds: float
    """How long it may take until it answers for the first time."""
    exclusive: bool = False

    @property
    def origin(self) -> str:
        """Where its author finds it."""
        return f"{self.place}: {self.field}"

    @property
    def field(self) -> str:
        """Where in the file it is."""
        return f"mcpServers.{self.name}"

    @property
    def prefix(self) -> str:
        """How the names of its tools begin, as the model sees them."""
        return f"{self.name}{SEPARATOR}"
