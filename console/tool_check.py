"""What is wrong with tools on disk, as their author wants to know it."""

from collections.abc import Sequence
from dataclasses import dataclass

from activities.tools.discovery import Problem, discover_tools, source_directory
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool


@dataclass(frozen=True)
class ToolReport:
    """The tools without a problem, and all problems; a tool that cannot be started has one."""

    good: tuple[Tool, ...]
    problems: tuple[Problem, ...]


def check_tools(sources: Sequence[str]) -> ToolReport:
    """Search these places for everything that is wrong; nothing raises."""
    found = discover_tools([source_directory(source) for source in sources])
    wrong = {str(problem.file) for problem in found.problems}
    good = [tool for _, tool in sorted(found.tools.items()) if not _places(tool) & wrong]
    return ToolReport(tuple(good), found.problems)


def _places(tool: Tool) -> set[str]:
    executable = tool.executable if isinstance(tool, DiskTool) else None
    return {tool.origin, str(executable)}
