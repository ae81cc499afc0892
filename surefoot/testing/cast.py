"""The tools of a run in a test: fakes, and tools on disk."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from activities.tools.discovery import discover_tools
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool
from surefoot.definition import ToolDefinition
from surefoot.testing.fake_tool import FakeTool


@dataclass(frozen=True)
class Cast:
    """The fakes of a run, and its tools by name as a worker takes them, fakes among them."""

    fakes: tuple[FakeTool, ...]
    tools: Mapping[str, Tool]

    @classmethod
    def of(cls, tools: Sequence[FakeTool | Path]) -> "Cast":
        """Gather fakes, and what is found in directories.

        Raises:
            ValueError: lists what is wrong with tools on disk, or names two tools of one name.
        """
        fakes = tuple(tool for tool in tools if isinstance(tool, FakeTool))
        found = discover_tools([tool for tool in tools if isinstance(tool, Path)])
        if found.errors:
            raise ValueError("\n".join(map(str, found.errors)))
        # A worker gives a run the definition; its executable is none, for another queue's executor has it.
        placed = [(fake.name, DiskTool(fake.definition, Path(), None)) for fake in fakes]
        names = Counter([*found.tools, *(name for name, _ in placed)])
        if twice := [name for name, times in names.items() if times > 1]:
            raise ValueError(f"two tools have the name '{twice[0]}'")
        return cls(fakes, {**found.tools, **dict(placed)})

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """What the model is told of them all."""
        return tuple(tool.definition for tool in self.tools.values())
