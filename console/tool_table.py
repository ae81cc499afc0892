"""The tools of some places as a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool
from console.safe_text import safe_text
from console.tool_sources import load_tools
from surefoot.approval import approval_json, approval_text


@dataclass(frozen=True)
class ToolRow:
    """One tool, and the place that it is from."""

    tool: Tool
    source: str

    def fields(self) -> dict[str, JsonValue]:
        """Give the row for a program."""
        definition = self.tool.definition
        return {
            "name": definition.name,
            "description": _first_line(definition.description),
            "timeout_seconds": definition.timeout_seconds,
            "source": self.source,
            "executable": _executable(self.tool),
            "executor_queue": definition.executor_queue,
            "approval": approval_json(definition.approval),
        }

    def cells(self) -> tuple[str, str, str, str, str]:
        """Give the row for people: name, timeout, approval, source, description."""
        definition = self.tool.definition
        source = self.source if definition.executor_queue is None else f"queue {definition.executor_queue}"
        description = _first_line(definition.description)
        approval = approval_text(definition.approval)
        timeout = f"{definition.timeout_seconds:g}s"
        return definition.name, timeout, approval, safe_text(source), safe_text(description)


def tool_rows(sources: Sequence[str]) -> tuple[ToolRow, ...]:
    """Load the tools of these places, sorted by name; raises CommandError as `load_tools` does."""
    found = load_tools(sources)
    return tuple(ToolRow(tool, found.sources[name]) for name, tool in sorted(found.tools.items()))


def tool_table(rows: Sequence[ToolRow]) -> Iterator[str]:
    """Print rows with a heading, in columns; the last one is as long as it is."""
    table = [("NAME", "TIMEOUT", "APPROVAL", "SOURCE", "DESCRIPTION"), *(row.cells() for row in rows)]
    if all(row.tool.definition.approval == "never" for row in rows):
        table = [(name, timeout, *more) for name, timeout, _, *more in table]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    for *cells, last in table:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        yield "  ".join([*padded, last])


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]


def _executable(tool: Tool) -> str | None:
    executable = tool.executable if isinstance(tool, DiskTool) else None
    return None if executable is None else str(executable)
