"""What is wrong with tools on disk, as their author wants to know it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from activities.tools.discovery import discover_tools
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool
from activities.tools.problem import Problem
from console.tool_approval import idle_rule
from workers.environment import process_environment


@dataclass(frozen=True)
class ToolReport:
    """The tools without a problem, and all problems; a tool that cannot be started has one."""

    good: tuple[Tool, ...]
    problems: tuple[Problem, ...]


def check_tools(sources: Sequence[str]) -> ToolReport:
    """Search these places for everything that is wrong; nothing raises."""
    found = discover_tools(sources, environment=process_environment())
    idle = [problem for _, tool in sorted(found.tools.items()) for problem in idle_rule(tool)]
    problems = (*found.problems, *idle)
    wrong = {str(problem.file) for problem in problems}
    good = [tool for _, tool in sorted(found.tools.items()) if not _is_at_one_of(wrong, tool)]
    return ToolReport(tuple(good), problems)


def _is_at_one_of(places: Collection[str], tool: Tool) -> bool:
    executable = tool.executable if isinstance(tool, DiskTool) else None
    own = {tool.origin, str(executable)}
    # A place within a file has its line behind it.
    return not own.isdisjoint(places) or any(place.startswith(f"{tool.origin}:") for place in places)
