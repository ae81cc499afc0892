"""What a run is, in markdown, for who looks at it in the server's UI."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from surefoot.approval import approval_text
from surefoot.budget import dollars, period
from surefoot.definition import ToolDefinition
from surefoot.limits import Limits
from surefoot.markdown import code
from surefoot.run import RunInput

_MOST_TOOLS = 24


def static_details(run: RunInput) -> str:
    """Say which agent, model and limits a run starts with, and which tools, as far as its input says."""
    lines = [
        f"**Agent** {code(run.agent_name)}" if run.agent_name else "",
        f"**Model** {code(run.model)}" + (", prompted protocol" if run.protocol == "prompted" else ""),
        f"**Limits** {' · '.join(_limits(run.limits))}",
        f"**Tools** {_tools(run.tools)}" if run.tools is not None else "**Tools** those of its worker",
        "" if run.network is None else f"**Network** {'on' if run.network else 'off'}",
        *_untrusted(run),
    ]
    return "\n\n".join(filter(None, lines))


def _untrusted(run: RunInput) -> Iterator[str]:
    if rules := run.after_untrusted:
        told = ", ".join(f"{name} {approval_text(rule)}" for name, rule in rules.items())
        yield f"**After untrusted content** approval of calls: {told}"
    if (source := run.untrusted) is not None:
        where = f"from {code(source.tool)} in call `{source.tool_exec_id}`"
        yield f"**Untrusted content** read by its caller, {where}"


def _limits(limits: Limits) -> Iterator[str]:
    yield f"{limits.max_turns:,} turns"
    if limits.max_tool_calls is not None:
        yield f"{limits.max_tool_calls:,} tool calls"
    if limits.max_input_tokens is not None:
        yield f"{limits.max_input_tokens:,} input tokens"
    if limits.max_output_tokens is not None:
        yield f"{limits.max_output_tokens:,} output tokens"
    if limits.max_cost is not None:
        yield code(dollars(limits.max_cost))
    if limits.max_seconds is not None:
        yield period(timedelta(seconds=limits.max_seconds))


def _tools(tools: Sequence[ToolDefinition]) -> str:
    named = [code(tool.name) for tool in tools[:_MOST_TOOLS]]
    more = len(tools) - len(named)
    return ", ".join([*named, *([f"{more:,} more"] if more else [])]) or "none"
