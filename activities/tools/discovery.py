"""Tools on disk: an executable beside its manifest, found and checked all at once."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from activities.interface import ToolList
from activities.tools.disk_tool import DiskTool
from activities.tools.executor import Tool
from activities.tools.start_failure import foreseen_start_failure
from surefoot.definition import Manifest, ToolDefinition
from surefoot.sizes import MAX_DEFINITIONS_BYTES, count
from surefoot.strict_json import NotStrictJsonError, json_type, strict_json

MANIFEST_SUFFIX = ".tool.json"

BUILTIN = "builtin"
"""The source that stands for the tools that come with Surefoot."""

BUILTIN_DIRECTORY = Path(__file__).parent / "builtin"
"""The tools that come with Surefoot: bash."""

_MAX_MANIFEST_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a tool, or with a directory of tools; a warning does not stop a worker."""

    file: Path | str
    """The file, with its line after a colon where one is meant; or what stands for a file."""
    reason: str
    field: str | None = None
    warning: bool = False

    def __str__(self) -> str:
        where = f"{self.file}: {self.field}" if self.field else str(self.file)
        return f"{where}: {self.reason}"


@dataclass(frozen=True)
class Discovery:
    """What a search found: usable tools by name, and everything that is wrong."""

    tools: Mapping[str, Tool] = field(default_factory=dict[str, Tool])
    problems: tuple[Problem, ...] = ()

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that no worker may start with."""
        return tuple(problem for problem in self.problems if not problem.warning)

    @property
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions in the order of their names."""
        return tuple(tool.definition for _, tool in sorted(self.tools.items()))


def source_directory(source: str) -> Path:
    """Give the directory that a source of tools stands for: `builtin`, or a path."""
    return BUILTIN_DIRECTORY if source == BUILTIN else Path(source)


def discover_tools(directories: Sequence[Path]) -> Discovery:
    """Search directories for manifests; nothing raises, and every problem of every tool is listed."""
    found: list[Tool] = []
    problems: list[Problem] = []
    for directory in _distinct(directories):
        for one in _search(directory):
            match one:
                case Problem():
                    problems.append(one)
                case DiskTool():
                    found.append(one)
    problems += _same_names(found)
    tools: dict[str, Tool] = {}
    for tool in found:
        tools.setdefault(tool.definition.name, tool)
    size = len(ToolList(tools=tuple(t.definition for t in tools.values())).model_dump_json().encode())
    if size > MAX_DEFINITIONS_BYTES:
        reason = (
            f"all definitions together are {size:,} bytes, above the limit of {count(MAX_DEFINITIONS_BYTES)}"
        )
        problems.append(Problem(directories[0], reason))
    return Discovery(tools, tuple(problems))


def _distinct(directories: Sequence[Path]) -> list[Path]:
    """Leave out what only names the same directory again, be it through a link."""
    distinct: dict[str, Path] = {}
    for directory in directories:
        # Unlike Path.resolve, this does not raise for links that form a loop.
        distinct.setdefault(os.path.realpath(directory), directory)
    return list(distinct.values())


def _search(directory: Path) -> Iterator[DiskTool | Problem]:
    try:
        manifests = sorted(path for path in directory.iterdir() if path.name.endswith(MANIFEST_SUFFIX))
    except FileNotFoundError:
        yield Problem(directory, "there is no such tools directory")
        return
    except OSError as error:
        yield Problem(directory, f"cannot be read as a tools directory: {error.strerror}")
        return
    if not manifests:
        yield Problem(directory, f"no tool is here: no file ends with {MANIFEST_SUFFIX}", warning=True)
    for manifest in manifests:
        yield from _load(manifest)


def _load(manifest: Path) -> Iterator[DiskTool | Problem]:
    definition = _read(manifest)
    if not isinstance(definition, ToolDefinition):
        yield from definition
        return
    stem = manifest.name.removesuffix(MANIFEST_SUFFIX)
    if definition.name != stem:
        yield Problem(manifest, f"is '{definition.name}', and the file's name says '{stem}'", "name")
        return
    # A tool is started in the run's working directory, from where a relative path leads elsewhere.
    executable = manifest.with_name(stem).absolute()
    if os.access(executable, os.F_OK):
        reason = foreseen_start_failure(executable)
        if reason is not None:
            yield Problem(executable, f"cannot be started: {reason}", warning=True)
        yield DiskTool(definition, manifest, executable)
    elif definition.executor_queue is not None:
        yield DiskTool(definition, manifest, None)
    else:
        yield Problem(manifest, f"its executable is missing: there is no file {executable}")


def _read(manifest: Path) -> ToolDefinition | list[Problem]:
    try:
        status = manifest.stat()
        if not S_ISREG(status.st_mode):
            return [Problem(manifest, "is not a file")]
        if status.st_size > _MAX_MANIFEST_BYTES:
            return [Problem(manifest, f"is larger than {count(_MAX_MANIFEST_BYTES)}")]
        value = strict_json(manifest.read_bytes())
    except OSError as error:
        return [Problem(manifest, f"cannot be read: {error.strerror}")]
    except NotStrictJsonError as error:
        return [Problem(manifest, f"is not JSON: {error}")]
    return _definition(manifest, value)


def _definition(manifest: Path, value: JsonValue) -> ToolDefinition | list[Problem]:
    if not isinstance(value, dict):
        return [Problem(manifest, f"must be a JSON object, and is of type {json_type(value)}")]
    try:
        written = Manifest.model_validate(value, strict=True, extra="forbid", by_alias=True, by_name=False)
    except ValidationError as error:
        # Where a field is wrong, the default that would depend on it is reported as missing, too.
        errors = [one for one in error.errors() if one["type"] != "default_factory_not_called"]
        return [_problem(manifest, one) for one in errors]
    return written.definition()


def _problem(manifest: Path, error: ErrorDetails) -> Problem:
    reasons = {"missing": "is required, and missing", "extra_forbidden": "is no field of a manifest"}
    reason = reasons.get(error["type"], error["msg"].removeprefix("Value error, "))
    return Problem(manifest, reason, ".".join(str(step) for step in error["loc"]) or None)


def _same_names(found: Sequence[Tool]) -> Iterator[Problem]:
    names = Counter(tool.definition.name for tool in found)
    for name, times in names.items():
        if times > 1:
            first, *others = [tool.origin for tool in found if tool.definition.name == name]
            for other in others:
                yield Problem(other, f"two tools have the name '{name}': the other one is {first}", "name")
