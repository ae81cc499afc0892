"""When the calls of a tool need approval, as its author is told."""

from collections.abc import Iterator

from activities.tools.executor import Tool
from activities.tools.problem import Problem
from console.json_text import json_text
from console.safe_text import safe_text
from surefoot.approval import approval_json
from surefoot.definition import ToolDefinition


def approval_of(definition: ToolDefinition) -> Iterator[str]:
    """Print the rule of a tool; nothing for one whose calls never need approval."""
    if definition.approval != "never":
        rule = approval_json(definition.approval)
        word = rule if isinstance(rule, str) else json_text(rule)
        seconds = definition.approval_timeout_seconds
        until = "" if seconds is None else f", denied after {seconds:g}s"
        yield safe_text(f"approval: {word}{until}")


def idle_rule(tool: Tool) -> Iterator[Problem]:
    """Say that a rule never asks, where that cannot be what was meant."""
    definition = tool.definition
    if definition.approval == "destructive" and definition.annotations.destructive_hint is not True:
        reason = "never asks, for annotations.destructiveHint is not true"
        yield Problem(tool.origin, reason, "approval", warning=True)
