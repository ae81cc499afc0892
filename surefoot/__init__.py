"""Surefoot: what a tool written in Python needs."""

from surefoot.current_call import CurrentCall, current_call
from surefoot.function_tool import tool
from surefoot.tool_error import ToolError
from surefoot.tool_result import ToolResult

__all__ = ["CurrentCall", "ToolError", "ToolResult", "current_call", "tool"]
