"""Tools of every source, found and checked all at once."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from activities.interface import ToolList
from activities.tools.executor import Tool
from activities.tools.functions.loading import FunctionSource, tools_of_directory, tools_of_source
from activities.tools.functions.threads import Threads
from activities.tools.manifests import MANIFEST_SUFFIX, tools_with_manifest
from activities.tools.problem import Problem
from activities.tools.sources import source_of
from surefoot.definition import ToolDefinition
from surefoot.sizes import MAX_DEFINITIONS_BYTES, count


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
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions in the order of their names."""
        return tuple(tool.definition for _, tool in sorted(self.tools.items()))

    @property
    def served(self) -> Mapping[str, Tool]:
        """Every tool that a worker runs for these sources, by name, those of agents included."""
        return {**self.inner, **self.tools}


def discover_tools(sources: Sequence[Path | str]) -> Discovery:
    """Search sources, which `source_of` reads; nothing raises, and every problem of every tool is listed."""
    found: list[tuple[Tool, str]] = []
    problems: list[Problem] = []
    threads = Threads()
    for source in _distinct(sources):
        for one in _search(source, threads):
            if isinstance(one, Problem):
                problems.append(one)
            else:
                found.append((one, str(source)))
    problems += _same_names([tool for tool, _ in found])
    tools: dict[str, Tool] = {}
    from_sources: dict[str, str] = {}
    for tool, source in found:
        tools.setdefault(tool.definition.name, tool)
        from_sources.setdefault(tool.definition.name, source)
    size = len(ToolList(tools=tuple(t.definition for t in tools.values())).model_dump_json().encode())
    if size > MAX_DEFINITIONS_BYTES:
        reason = (
            f"all definitions together are {size:,} bytes, above the limit of {count(MAX_DEFINITIONS_BYTES)}"
        )
        problems.append(Problem(sources[0], reason))
    return Discovery(tools, tuple(problems), from_sources)


def _distinct(sources: Sequence[Path | str]) -> list[Path | str]:
    """Leave out what only names the same place again, be it through a link."""
    distinct: dict[str, Path | str] = {}
    for source in sources:
        place = source_of(source) if isinstance(source, str) else source
        # Unlike Path.resolve, this does not raise for links that form a loop.
        distinct.setdefault(os.path.realpath(str(place)), source)
    return list(distinct.values())


def _search(source: Path | str, threads: Threads) -> Iterator[Tool | Problem]:
    place = source_of(source) if isinstance(source, str) else source
    match place:
        case FunctionSource():
            yield from tools_of_source(place, threads)
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
