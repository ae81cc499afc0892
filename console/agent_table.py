"""Agent files as people and programs see them listed and shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pydantic import JsonValue

from activities.agents.agent_file import AgentFile, read_agent
from activities.tools.problem import Problem
from console.safe_text import safe_text
from surefoot.agent_definition import AgentLimits
from surefoot.approval import approval_text, approvals_json
from surefoot.budget import dollars, period


@dataclass(frozen=True)
class AgentRow:
    """One agent file by the name that `--agent` takes; a damaged one is what is wrong with it."""

    name: str
    path: Path
    agent: AgentFile | tuple[Problem, ...]

    def fields(self) -> dict[str, JsonValue]:
        """Give the row for a program."""
        agent = self.agent if isinstance(self.agent, AgentFile) else None
        return {
            "name": self.name,
            "file": str(self.path),
            "description": agent.definition.description if agent else None,
            "model": agent.model if agent else None,
            "problems": [problem_fields(problem) for problem in self._problems],
        }

    def cells(self) -> tuple[str, str, str, str]:
        """Give the row for people: name, model, file, description."""
        model = self.agent.definition.model if isinstance(self.agent, AgentFile) else None
        return (
            safe_text(self.name),
            safe_text(model or "-"),
            safe_text(str(self.path)),
            safe_text(self._described),
        )

    @property
    def _problems(self) -> tuple[Problem, ...]:
        return () if isinstance(self.agent, AgentFile) else self.agent

    @property
    def _described(self) -> str:
        if isinstance(self.agent, AgentFile):
            return self.agent.definition.description.strip().split("\n")[0]
        first, *more = self.agent
        return f"damaged: {first}{f' (and {len(more)} more)' if more else ''}"


def agent_rows(named: Mapping[str, Path]) -> tuple[AgentRow, ...]:
    """Read the files that names stand for, sorted by name."""
    return tuple(AgentRow(name, path, read_agent(path)) for name, path in sorted(named.items()))


def agent_table(rows: Sequence[AgentRow]) -> Iterator[str]:
    """Print rows with a heading, in columns; the last one is as long as it is."""
    table = [("NAME", "MODEL", "FILE", "DESCRIPTION"), *(row.cells() for row in rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    for *cells, last in table:
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
        yield "  ".join([*padded, last])


def agent_fields(agent: AgentFile) -> dict[str, JsonValue]:
    """Give an agent for a program, with every default filled in; of its servers the names alone."""
    definition = agent.definition
    return {
        "name": definition.name,
        "file": str(agent.path),
        "description": definition.description,
        "model": agent.model,
        "protocol": definition.protocol,
        "tools": [*definition.tools],
        "mcp_servers": [*sorted(definition.mcp_servers)],
        "limits": agent.limits.model_dump(mode="json"),
        "approval": approvals_json(definition.approval),
        "after_untrusted": approvals_json({**definition.after_untrusted}),
        "network": definition.network,
        "on_model_failure": definition.on_model_failure,
        "output_schema": definition.output_schema,
        "system": agent.system,
    }


def agent_lines(agent: AgentFile) -> Iterator[str]:
    """Print an agent for people: what its file says, and below it the system prompt."""
    definition = agent.definition
    yield f"{definition.name}  {agent.path}"
    yield definition.description.strip()
    yield ""
    yield f"model     {definition.model or 'that of the run'}"
    yield f"protocol  {definition.protocol or 'that of the run'}"
    yield f"tools     {', '.join(definition.tools) or 'none'}"
    if definition.mcp_servers:
        yield f"servers   {', '.join(sorted(definition.mcp_servers))}"
    yield f"limits    {', '.join(_limits(definition.limits))}"
    if rules := definition.approval:
        yield f"approval  {', '.join(f'{tool} {approval_text(rule)}' for tool, rule in rules.items())}"
    if after := definition.after_untrusted:
        told = ", ".join(f"{name} {approval_text(rule)}" for name, rule in after.items())
        yield f"          after untrusted content: {told}"
    if definition.network is not None:
        yield f"network   {'on' if definition.network else 'off'}"
    if definition.output_schema is not None:
        yield "answer    JSON that fits its output schema"
    yield ""
    yield agent.system


def problem_fields(problem: Problem) -> dict[str, JsonValue]:
    """Give a problem for a program."""
    return {
        "file": str(problem.file),
        "field": problem.field,
        "reason": problem.reason,
        "warning": problem.warning,
    }


def _limits(limits: AgentLimits) -> Iterator[str]:
    for name, limit in limits.model_dump(exclude_none=True).items():
        match name:
            case "maxCost":
                yield f"{name} {dollars(limit)}"
            case "maxTime":
                yield f"{name} {period(timedelta(seconds=limit))}"
            case _:
                yield f"{name} {limit:,}"
