"""Tools of every source, found and checked all at once."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from activities.agents.agent_file import AgentFile
from activities.agents.gathering import Gathering, ToolSet
from activities.interface import ToolList
from activities.tools.executor import Tool
from activities.tools.functions.loading import FunctionSource, tools_of_directory, tools_of_source
from activities.tools.functions.threads import Threads
from activities.tools.manifests import MANIFEST_SUFFIX, tools_with_manifest
from activities.tools.mcp.absent import ServerAway, ToolsWithAbsent
from activities.tools.mcp.loading import McpFile, McpServers, tools_of_mcp
from activities.tools.problem import Problem
from activities.tools.secrets.checking import secret_problems, without_secrets
from activities.tools.secrets.source import SecretSource
from activities.tools.sources import AgentSource, Place
from surefoot.definition import ToolDefinition
from surefoot.sizes import MAX_DEFINITIONS_BYTES, count

NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Discovery:
    """What a search found: usable tools by name, and everything that is wrong."""

    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which of the sources each tool is from."""
    tool_sets: Mapping[str, tuple[ToolDefinition, ...]] = field(
        default_factory=dict[str, tuple[ToolDefinition, ...]]
    )
    """What runs of each agent are given, by `SubAgent.key`: of those among the tools, and among theirs."""
    inner: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    """Tools that only those agents are given, by name."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that no worker may start with."""
        return tuple(problem for problem in self.problems if not problem.warning)

    @property
    def obstacles(self) -> tuple[Problem, ...]:
        """The errors that keep a run from going on: a server may be away, its tools then say so."""
        return tuple(problem for problem in self.errors if not isinstance(problem, ServerAway))

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions in the order of their names."""
        return _definitions(self.tools)

    @property
    def served(self) -> Mapping[str, Tool]:
        """Every tool that a worker runs for these sources, by name, those of agents included.

        Whatever begins with the name of an MCP server that is away is found, too, and not listed.
        """
        away = [problem.server for problem in self.problems if isinstance(problem, ServerAway)]
        return ToolsWithAbsent({**self.inner, **self.tools}, away)


def discover_tools(
    sources: Sequence[Path | str], *, environment: Mapping[str, str] = NO_ENVIRONMENT
) -> Discovery:
    """Search sources, which `source_of` reads; nothing raises, and every problem of every tool is listed.

    `environment` is the worker's: MCP servers are started and reached with it, which takes its time.
    """
    gathering = Gathering(partial(_search, threads=Threads(), environment=environment))
    return _with_secrets(_discovery(gathering.of_sources(sources), gathering), environment)


def discover_tools_of(agent: AgentFile, *, environment: Mapping[str, str] = NO_ENVIRONMENT) -> Discovery:
    """Search what an agent's file names, as `discover_tools` does."""
    gathering = Gathering(partial(_search, threads=Threads(), environment=environment))
    return _with_secrets(_discovery(gathering.of_agent(agent), gathering), environment)


def _discovery(outer: ToolSet, gathering: Gathering) -> Discovery:
    inner = [tools for _, tools in gathering.of_agents]
    together = {(tool.definition.name, tool.origin): tool for tool in _tools_of(outer, *inner)}
    problems = [*outer.problems]
    for each in (outer, *inner):
        problems += [*_same_names(_tools_of(each)), *_too_large(each)]
    problems += _same_names(list(together.values()))
    tools = _by_name(outer)
    return Discovery(
        tools,
        # Two tools of one set are two tools of all sets together.
        tuple(dict.fromkeys(problems)),
        {tool.definition.name: source for tool, source in reversed(outer.found)},
        {key: _definitions(_by_name(each)) for key, each in gathering.of_agents},
        {name: tool for name, tool in _by_name(*inner).items() if name not in tools},
    )


def _with_secrets(found: Discovery, environment: Mapping[str, str]) -> Discovery:
    # Whoever only lists tools does not say what there is for them.
    if not environment:
        return found
    source = SecretSource.of(environment)
    wrong = secret_problems([*found.tools.values(), *found.inner.values()], source)
    return replace(found, problems=tuple(without_secrets((*found.problems, *wrong), source.read())))


def _tools_of(*sets: ToolSet) -> list[Tool]:
    return [tool for each in sets for tool, _ in each.found]


def _by_name(*sets: ToolSet) -> dict[str, Tool]:
    """Give the first tool of each name."""
    tools: dict[str, Tool] = {}
    for tool in _tools_of(*sets):
        tools.setdefault(tool.definition.name, tool)
    return tools


def _definitions(tools: Mapping[str, Tool]) -> tuple[ToolDefinition, ...]:
    return tuple(tool.definition for _, tool in sorted(tools.items()))


def _too_large(tools: ToolSet) -> Iterator[Problem]:
    size = len(ToolList(tools=_definitions(_by_name(tools))).model_dump_json().encode())
    if size > MAX_DEFINITIONS_BYTES:
        limit = count(MAX_DEFINITIONS_BYTES)
        reason = f"all definitions together are {size:,} bytes, above the limit of {limit}"
        yield Problem(tools.place, reason)


def _search(place: Place, *, threads: Threads, environment: Mapping[str, str]) -> Iterator[Tool | Problem]:
    match place:
        case McpFile() | McpServers():
            yield from tools_of_mcp(place, environment=environment)
        case FunctionSource():
            yield from tools_of_source(place, threads)
        case AgentSource():
            yield Problem(str(place), "is an agent, which is searched with those that it is a tool of")
        case Path():
            yield from _search_directory(place, threads)


def _search_directory(directory: Path, threads: Threads) -> Iterator[Tool | Problem]:
    try:
        manifests = sorted(path for path in directory.iterdir() if path.name.endswith(MANIFEST_SUFFIX))
    except FileNotFoundError:
        yield Problem(directory, "there is no such tools directory")
        return
    except OSError as error:
        yield Problem(directory, f"cannot be read as a tools directory: {error.strerror}")
        return
    functions = list(tools_of_directory(directory, threads))
    if not manifests and not functions:
        reason = f"no tool is here: no file ends with {MANIFEST_SUFFIX}, no Python file imports surefoot"
        yield Problem(directory, reason, warning=True)
    for manifest in manifests:
        yield from tools_with_manifest(manifest)
    yield from functions


def _same_names(found: Sequence[Tool]) -> Iterator[Problem]:
    names = Counter(tool.definition.name for tool in found)
    for name, times in names.items():
        if times > 1:
            first, *others = [tool.origin for tool in found if tool.definition.name == name]
            for other in others:
                yield Problem(other, f"two tools have the name '{name}': the other one is {first}", "name")
