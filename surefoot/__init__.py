"""Surefoot: what a tool or a reducer written in Python needs."""

from surefoot.current_call import CurrentCall, current_call
from surefoot.function_tool import tool
from surefoot.reducer import reducer
from surefoot.session import ToolFailed, ToolInvoked
from surefoot.tool_error import ToolError
from surefoot.tool_result import ToolResult

__all__ = [
    "CurrentCall",
    "ToolError",
    "ToolFailed",
    "ToolInvoked",
    "ToolResult",
    "current_call",
    "reducer",
    "tool",
]
