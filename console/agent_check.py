"""What is wrong with agent files and with all of their tools, as their author wants to know it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from activities.agents.agent_file import AgentFile, read_agent
from activities.agents.finding import NoSuchAgentError, agent_path
from activities.model import ModelRefusedError
from activities.scripted.script import load_script
from activities.tools.discovery import discover_tools_of
from activities.tools.problem import Problem
from console.agent_table import problem_fields
from surefoot.approval import unknown_tools
from workers.agent_directories import agent_directories
from workers.environment import process_environment
from workers.models import SCRIPTED, check_form, is_scripted


@dataclass(frozen=True)
class AgentReport:
    """One agent by the name or path that was asked for, its tools, and all problems."""

    asked: str
    file: str | None
    tools: tuple[str, ...]
    problems: tuple[Problem, ...]

    def fields(self) -> dict[str, JsonValue]:
        """Give the report for a program."""
        return {
            "agent": self.asked,
            "file": self.file,
            "tools": list(self.tools),
            "problems": [problem_fields(problem) for problem in self.problems],
        }


def check_agents(names: Sequence[str]) -> tuple[AgentReport, ...]:
    """Search these agents, named as `--agent` names them, for everything that is wrong; nothing raises."""
    return tuple(_report(name) for name in names)


def _report(name: str) -> AgentReport:
    try:
        path = agent_path(name, agent_directories())
    except NoSuchAgentError as error:
        return AgentReport(name, None, (), (Problem("--agent", str(error)),))
    agent = read_agent(path)
    if not isinstance(agent, AgentFile):
        return AgentReport(name, str(path), (), agent)
    found = discover_tools_of(agent, environment=process_environment())
    unmet = () if found.problems else _rules_for_nothing(agent, found.tools)
    problems = (*_problems_of_the_model(agent), *found.problems, *unmet)
    return AgentReport(name, str(path), tuple(sorted(found.tools)), problems)


def _rules_for_nothing(agent: AgentFile, tools: Collection[str]) -> Iterator[Problem]:
    for name in unknown_tools(agent.definition.approval, tools):
        yield agent.problem("it has no such tool", "approval", name)


def _problems_of_the_model(agent: AgentFile) -> Iterator[Problem]:
    """Say what is wrong with a name, or with a script; what only a provider knows is not asked."""
    if agent.model is None:
        return
    try:
        check_form(agent.model)
        if is_scripted(agent.model):
            load_script(Path(agent.model.removeprefix(SCRIPTED)))
    except ModelRefusedError as error:
        yield agent.problem(str(error), "model")
