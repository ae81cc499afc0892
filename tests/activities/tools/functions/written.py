"""Python files with tools that a test writes, and calls of them as a worker makes them."""

import asyncio
import os
import textwrap
from pathlib import Path

from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.tools.discovery import discover_tools
from activities.tools.executor import ToolExecutor
from surefoot.outcome import ToolFailure, ToolSuccess

HEAD = """
import asyncio, os, time
from pathlib import Path
from typing import Any, TypedDict
from surefoot import ToolError, ToolResult, current_call, tool
"""


def write_module(directory: Path, name: str, source: str) -> Path:
    """Write a Python file below a head of imports."""
    directory.mkdir(exist_ok=True)
    path = directory / f"{name}.py"
    path.write_text(HEAD + textwrap.dedent(source))
    return path


def executor_of(directory: Path, *sources: Path | str) -> ToolExecutor:
    """Give an executor of what is found, which is all without a problem; it works in `directory`."""
    found = discover_tools(sources)
    assert found.problems == ()
    return ToolExecutor(found.tools, directory, {"PATH": os.environ["PATH"], "SECRET": "hunter2"})


def call(
    params: dict[str, JsonValue] | None = None, *, tool: str = "x", seconds: float = 20
) -> ToolCallInput:
    return ToolCallInput(tool=tool, params=params or {}, call_id="run-1/2-1", timeout_seconds=seconds)


async def outcome_of(directory: Path, source: str, asked: ToolCallInput) -> ToolSuccess | ToolFailure:
    """Write the tools of a file and make one call."""
    write_module(directory / "tools", "written", source)
    async with asyncio.timeout(30):
        return await executor_of(directory, directory / "tools").run(asked)
