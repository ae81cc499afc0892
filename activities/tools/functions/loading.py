"""Finding functions that are tools: in the Python files of a directory, or by their names."""

import ast
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, cast

from activities.tools.functions.address import Address
from activities.tools.functions.in_process import InProcessTool
from activities.tools.functions.isolated import IsolatedTool
from activities.tools.functions.modules import CannotImportError, import_file, import_module
from activities.tools.functions.threads import Threads
from activities.tools.problem import Problem
from surefoot.function_definition import FunctionTool, describe, name_of
from surefoot.function_tool import Decorated, decorated

FunctionTools = Iterator["InProcessTool | IsolatedTool | Problem"]


@dataclass(frozen=True)
class FunctionSource:
    """`module:attribute`, and where modules are looked for that are not installed."""

    directory: Path
    module: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.directory}:{self.module}:{self.attribute}"


def tools_of_directory(directory: Path, threads: Threads) -> FunctionTools:
    """Load the functions with `@tool` above them from every Python file that imports surefoot.

    No other file is run, and none whose name begins with an underscore.
    """
    for path in sorted(directory.glob("[!_]*.py")):
        asks = _asks_for_tools(path)
        if isinstance(asks, Problem):
            yield asks
        elif asks:
            yield from _tools_of_file(path, threads)


def tools_of_source(source: FunctionSource, threads: Threads) -> FunctionTools:
    """Load one function with `@tool` above it, or all of a list of them."""
    try:
        module = import_module(source.module, source.directory)
        value = reduce(getattr, source.attribute.split("."), cast(Any, module))
    except CannotImportError as error:
        yield Problem(error.place, error.reason)
        return
    except AttributeError:
        yield Problem(f"{source.module}:{source.attribute}", f"the module has no '{source.attribute}'")
        return
    several = isinstance(value, list | tuple)
    for number, each in enumerate(cast("list[object]", value) if several else [value]):
        recorded = decorated(each)
        if recorded is None:
            place = f"{source.module}:{source.attribute}{f'[{number}]' if several else ''}"
            yield Problem(place, "is no function with @tool above it, and no list of such functions")
        else:
            yield from _tool(recorded, file=None, threads=threads)


def _asks_for_tools(path: Path) -> bool | Problem:
    try:
        source = path.read_bytes()
    except OSError as error:
        return Problem(path, f"cannot be read: {error.strerror}")
    if b"surefoot" not in source:
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        if isinstance(error, SyntaxError):
            return Problem(f"{path}:{error.lineno}", f"is no Python: {error.msg}")
        return Problem(path, f"is no Python: {error}")
    return any(_is_import_of_surefoot(statement) for statement in ast.walk(tree))


def _is_import_of_surefoot(statement: ast.AST) -> bool:
    match statement:
        case ast.Import(names=names):
            return any(name.name.partition(".")[0] == "surefoot" for name in names)
        case ast.ImportFrom(module=str() as module, level=0):
            return module.partition(".")[0] == "surefoot"
        case _:
            return False


def _tools_of_file(path: Path, threads: Threads) -> FunctionTools:
    try:
        module = import_file(path)
    except CannotImportError as error:
        yield Problem(error.place, error.reason)
        return
    recorded = {id(value): decorated(value) for value in vars(module).values()}
    own = [each for each in recorded.values() if each and _module_of(each) == module.__name__]
    if not own:
        yield Problem(path, "imports surefoot, and no function of it has @tool above it", warning=True)
    for each in own:
        yield from _tool(each, file=str(path.absolute()), threads=threads)


def _tool(recorded: Decorated, *, file: str | None, threads: Threads) -> FunctionTools:
    origin = _origin(recorded)
    described = describe(recorded)
    for flaw in described.flaws:
        field = ".".join(filter(None, (name_of(recorded), flaw.field)))
        yield Problem(origin, flaw.reason, field, warning=flaw.warning)
    if described.tool is None:
        return
    if not described.tool.isolated:
        yield InProcessTool(described.tool, origin, threads)
    else:
        yield _isolated(described.tool, origin, file)


def _isolated(tool: FunctionTool, origin: str, file: str | None) -> IsolatedTool | Problem:
    address = Address.of(tool.function, file=file)
    if address is None:
        reason = "must be what its module holds under its name, for another process to find it"
        return Problem(origin, reason, f"{tool.definition.name}.isolated")
    return IsolatedTool(tool.definition, origin, address)


def _module_of(recorded: Decorated) -> str | None:
    return getattr(recorded.function, "__module__", None)


def _origin(recorded: Decorated) -> str:
    """Give the file and line of a function; of what is none, the file."""
    function = inspect.unwrap(recorded.function)
    code = getattr(function, "__code__", None)
    if code is None:
        module = sys.modules.get(_module_of(recorded) or "")
        return str(getattr(module, "__file__", None) or _module_of(recorded))
    return f"{code.co_filename}:{code.co_firstlineno}"
