"""A case of the fault suite whose tool is a Python function, and what it may come to."""

from tests.faults.case import EFFECTS, Case, Failure, Like, Success

_HEAD = f"""
import asyncio, ctypes, os, resource, signal, subprocess, sys, time, urllib.error
from typing import Any, TypedDict
from surefoot import ToolError, ToolResult, current_call, tool

class Found(TypedDict):
    name: str
    results: list[str]

def leave_a_side_effect():
    with (current_call().directory / {EFFECTS!r}).open("a") as effects:
        effects.write(current_call().id + "\\n")
"""

NO_JSON = "what it returned is no JSON: %s\n"


def function(
    name: str,
    body: str,
    sees: Failure | Success,
    *,
    kind: str = "async def",
    returns: str = "Any",
    **options: object,
) -> Case:
    said = "".join(f", {option}={value!r}" for option, value in options.items())
    lines = "".join(f"    {line}\n" for line in ("leave_a_side_effect()", *body.splitlines()))
    source = f'{_HEAD}\n@tool(name="NAME"{said})\n{kind} run() -> {returns}:\n    """Do."""\n{lines}'
    return Case(name, None, sees, manifest=None, function=source)


def answered(**fields: object) -> Success:
    return Success({"success": True, "error": None, **fields})


def operation_failed(error: str | Like, error_code: str, **fields: object) -> Success:
    return Success({"success": False, "error": error, "error_code": error_code, **fields})


def late(seconds: int, stderr: str | Like) -> Failure:
    return Failure("TOOL_TIMEOUT", None, f"Tool 'x' timed out after {seconds}s", "", stderr)
