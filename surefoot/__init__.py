"""Surefoot: what a tool written in Python needs."""

from surefoot.function_tool import tool
from surefoot.tool_error import ToolError
from surefoot.tool_result import ToolResult

__all__ = ["ToolError", "ToolResult", "tool"]
