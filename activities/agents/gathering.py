"""The tools of sources, and of the agents among them, down to the last."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from activities.agents.agent_file import AgentFile, read_agent
from activities.agents.agent_tool import AgentTool, agent_tool
from activities.tools.executor import Tool
from activities.tools.functions.loading import FunctionSource
from activities.tools.mcp.loading import McpServers
from activities.tools.problem import Problem
from activities.tools.sources import BUILTIN, AgentSource, Place, source_of

MAX_AGENT_DEPTH = 5
"""How many agents may stand below each other, each a tool of the one above it."""

Search = Callable[[Place], Iterable[Tool | Problem]]
"""Finds the tools of a place that is no agent."""


@dataclass(frozen=True)
class ToolSet:
    """The tools of one list of sources, each with its source, and what is wrong."""

    found: tuple[tuple[Tool, str], ...]
    problems: tuple[Problem, ...]
    place: str
    """The first of the sources, or the file that names them."""


class Gathering:
    """One search; each place is looked at once, however many agents name it."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._places: dict[str, list[Tool]] = {}
        self._agents: dict[str, _Known | None] = {}
        self.of_agents: list[tuple[str, ToolSet]] = []
        """What runs of each agent have that was found as a tool, with its `SubAgent.key`."""

    def of_sources(self, sources: Sequence[Path | str]) -> ToolSet:
        """Find the tools of sources as `--tools` takes them; nothing raises."""
        named = [_Named(str(one), source_of(one) if isinstance(one, str) else one) for one in sources]
        return self._tool_set(named, _Chain(), place=named[0].source if named else "")

    def of_agent(self, agent: AgentFile) -> ToolSet:
        """Find the tools that a run of an agent has; nothing raises."""
        return self._tools_of(agent, _Chain((agent,)))

    def _tools_of(self, agent: AgentFile, chain: "_Chain") -> ToolSet:
        return self._tool_set(list(_named_in(agent)), chain, place=str(agent.path))

    def _tool_set(self, named: Sequence["_Named"], chain: "_Chain", *, place: str) -> ToolSet:
        found: list[tuple[Tool, str]] = []
        problems: list[Problem] = []
        for one in _distinct(named):
            for each in self._look(one.place, chain):
                if isinstance(each, Problem):
                    problems.append(one.told(each))
                else:
                    found.append((each, one.source))
        return ToolSet(tuple(found), tuple(problems), place)

    def _look(self, place: Place, chain: "_Chain") -> Iterator[Tool | Problem]:
        key = _key(place)
        if isinstance(place, AgentSource):
            yield from self._look_at_agent(place.path, key, chain)
        elif key in self._places:
            yield from self._places[key]
        else:
            found = list(self._search(place))
            self._places[key] = [one for one in found if not isinstance(one, Problem)]
            yield from found

    def _look_at_agent(self, path: Path, key: str, chain: "_Chain") -> Iterator[Tool | Problem]:
        if any(key == os.path.realpath(agent.path) for agent in chain.agents):
            yield Problem(path, f"is a tool of itself: {chain.names(path.stem)}")
            return
        if chain.depth >= MAX_AGENT_DEPTH:
            yield _too_deep(path, chain)
            return
        if key not in self._agents:
            yield from self._read(path, key, chain)
        known = self._agents[key]
        if known is not None and chain.depth + known.height > MAX_AGENT_DEPTH:
            yield _too_deep(path, chain)
        elif known is not None:
            yield known.tool

    def _read(self, path: Path, key: str, chain: "_Chain") -> Iterator[Problem]:
        agent = read_agent(path)
        self._agents[key] = None
        if not isinstance(agent, AgentFile):
            yield from agent
            return
        own = self._tools_of(agent, chain.below(agent))
        yield from own.problems
        heights = {known.tool.origin: known.height for known in self._agents.values() if known}
        below = [heights[tool.origin] for tool, _ in own.found if isinstance(tool, AgentTool)]
        offered = agent_tool(agent, (tool.definition for tool, _ in own.found))
        self._agents[key] = _Known(offered, 1 + max(below, default=0))
        self.of_agents.append((agent.definition.name, own))


@dataclass(frozen=True)
class _Named:
    """A place, and where it is named."""

    source: str
    place: Place
    file: AgentFile | None = None
    position: int = 0

    def told(self, problem: Problem) -> Problem:
        """Say where an agent file names it what is wrong with the place itself."""
        if self.file is not None and isinstance(self.place, McpServers):
            place = (problem.field or "").split(".")
            written = self.file.problem(problem.reason, *place, warning=problem.warning)
            return replace(problem, file=written.file, field=written.field, reason=written.reason)
        if self.file is None or not self._is_meant(problem):
            return problem
        reason = f"{problem.file}: {problem.reason}"
        return self.file.problem(reason, "tools", self.position, warning=problem.warning)

    def _is_meant(self, problem: Problem) -> bool:
        if isinstance(self.place, FunctionSource):
            return str(problem.file).startswith(self.place.module)
        return str(problem.file) == str(self.place)


@dataclass(frozen=True)
class _Chain:
    """The agents on the way to where a search is."""

    agents: tuple[AgentFile, ...] = ()
    depth: int = 0
    """How many of them are tools; the first of all may be the run's own."""

    def below(self, agent: AgentFile) -> "_Chain":
        return _Chain((*self.agents, agent), self.depth + 1)

    def names(self, last: str) -> str:
        return " → ".join([*(agent.definition.name for agent in self.agents), last])


@dataclass(frozen=True)
class _Known:
    """An agent that was found before."""

    tool: AgentTool
    height: int
    """How many agents stand below each other, itself included."""


def _named_in(agent: AgentFile) -> Iterator[_Named]:
    for position, text in enumerate(agent.definition.tools):
        place = source_of(text, directory=agent.directory)
        yield _Named(text if text.startswith(BUILTIN) else str(place), place, agent, position)
    if servers := agent.definition.mcp_servers:
        yield _Named(str(agent.path), McpServers(agent.path, servers), agent)


def _distinct(named: Sequence[_Named]) -> list[_Named]:
    """Leave out what only names the same place again, be it through a link."""
    distinct: dict[str, _Named] = {}
    for one in named:
        distinct.setdefault(_key(one.place), one)
    return list(distinct.values())


def _key(place: Place) -> str:
    # Unlike Path.resolve, this does not raise for links that form a loop.
    return os.path.realpath(str(place))


def _too_deep(path: Path, chain: _Chain) -> Problem:
    reason = f"is too deep: at most {MAX_AGENT_DEPTH} agents stand below each other"
    return Problem(path, f"{reason}: {chain.names(path.stem)}")
