import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.tools.discovery import discover_tools
from activities.tools.functions.loading import FunctionSource
from activities.tools.sources import BUILTIN_DIRECTORY, source_of
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.activities.tools.functions.written import write_module

DO = "@tool\ndef {name}() -> int:\n    '''Do.'''\n    return 1\n"


@pytest.fixture(autouse=True)
def modules_stay_as_they_were() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in sys.modules.keys() - modules:
        del sys.modules[name]


def problems(directory: Path, *sources: Path | str) -> list[str]:
    found = discover_tools(sources)
    return [f"{'warning: ' * one.warning}{one}".replace(f"{directory}{os.sep}", "") for one in found.problems]


def test_functions_stand_beside_executables(tmp_path: Path) -> None:
    write_tool(tmp_path, "executable", SHELL)
    write_module(tmp_path, "functions", DO.format(name="first") + DO.format(name="second"))
    found = discover_tools([tmp_path])
    assert (sorted(found.tools), found.problems) == (["executable", "first", "second"], ())
    assert found.tools["second"].origin == f"{tmp_path}/functions.py:10"


def test_only_files_that_import_surefoot_are_run(tmp_path: Path) -> None:
    write_module(tmp_path, "functions", "from .helper import NAME\n" + DO.format(name="first"))
    (tmp_path / "helper.py").write_text("NAME = 'surefoot'\n")
    (tmp_path / "script.py").write_text("print 'Python 2'\n")
    (tmp_path / "_private.py").write_text("import surefoot\nraise RuntimeError\n")
    found = discover_tools([tmp_path])
    assert (list(found.tools), found.problems) == (["first"], ())


def test_files_beside_tools_may_be_called_alike(tmp_path: Path) -> None:
    for name in ("first", "second"):
        source = "from .helper import NAME\n" + DO.format(name=name) + f"{name}.__doc__ = NAME\n"
        write_module(tmp_path / name, "functions", source)
        (tmp_path / name / "helper.py").write_text(f"NAME = 'Do {name}.'\n")
    found = discover_tools([tmp_path / "first", tmp_path / "second"])
    assert [tool.description for tool in found.definitions] == ["Do first.", "Do second."]


def test_a_function_that_another_file_made_is_found_once(tmp_path: Path) -> None:
    write_module(tmp_path, "one", DO.format(name="first"))
    write_module(tmp_path, "two", "from .one import first\n" + DO.format(name="second"))
    found = discover_tools([tmp_path])
    assert (sorted(found.tools), found.problems) == (["first", "second"], ())


def test_what_a_file_prints_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_module(tmp_path, "functions", "print('loading')\n" + DO.format(name="first"))
    discover_tools([tmp_path])
    assert capsys.readouterr() == ("", "loading\n")


def test_everything_that_is_wrong_with_a_directory_is_named_with_its_place(tmp_path: Path) -> None:
    write_tool(tmp_path, "first", SHELL)
    write_module(tmp_path, "a", DO.format(name="first") + "@tool\ndef bare(x):\n    pass\n")
    write_module(tmp_path, "b", "x = 1\nraise RuntimeError('no key')\n")
    write_module(tmp_path, "c", "def half(\n")
    write_module(tmp_path, "d", "")
    write_module(tmp_path, "e", "import there_is_no_such_module\n")
    write_module(tmp_path, "e2", "import d\n")
    write_module(tmp_path, "f", "raise SystemExit(2)\n")
    write_module(tmp_path, "g", "@tool(timeout=3)\ndef g() -> None:\n    '''Do.'''\n")
    assert problems(tmp_path, tmp_path) == [
        "a.py:10: bare: has no docstring, whose first paragraph tells the model what the tool does",
        "a.py:10: bare.x: has no type: annotate it",
        "b.py:7: cannot be imported: RuntimeError: no key",
        "c.py:6: is no Python: '(' was never closed",
        "warning: d.py: imports surefoot, and no function of it has @tool above it",
        "e.py:6: cannot be imported: ModuleNotFoundError: No module named 'there_is_no_such_module'",
        (
            "e2.py:6: cannot be imported: ModuleNotFoundError: No module named 'd'; "
            "write `from .d import …` for the file beside it"
        ),
        "f.py:6: cannot be imported: SystemExit: 2",
        "g.py:6: cannot be imported: TypeError: @tool has no option 'timeout'",
        "a.py:6: name: two tools have the name 'first': the other one is first.tool.json",
    ]


def test_an_isolated_function_must_be_found_by_its_name(tmp_path: Path) -> None:
    source = """
        @tool(isolated=True)
        def _first() -> int:
            '''Do.'''
            return 1
        first = _first
        @tool(isolated=True, name="second")
        def _first() -> int:
            '''Do.'''
            return 2
    """
    write_module(tmp_path, "functions", source)
    reason = "must be what its module holds under its name, for another process to find it"
    assert problems(tmp_path, tmp_path) == [f"functions.py:7: _first.isolated: {reason}"]


def test_a_class_with_the_decorator_is_named_by_its_file(tmp_path: Path) -> None:
    write_module(tmp_path, "functions", '@tool\nclass Place:\n    """Where."""\n')

    told = problems(tmp_path, tmp_path)

    assert told == ["functions.py: Place: is a class: decorate a function"]


def test_a_source_names_one_function_or_several(tmp_path: Path) -> None:
    methods = """
        class Service:
            @tool
            async def third(self, x: int) -> int:
                '''Do.'''
                return x
        SERVICE = Service()
    """
    write_module(tmp_path, "named_by_a_source", methods)
    with (tmp_path / "named_by_a_source.py").open("a") as module:
        module.write(DO.format(name="first") + DO.format(name="second") + "ALL = [second, SERVICE.third]\n")
    one = discover_tools([f"{tmp_path}:named_by_a_source:first"])
    several = discover_tools([f"{tmp_path}:named_by_a_source:ALL"])
    assert (list(one.tools), one.problems) == (["first"], ())
    assert (sorted(several.tools), several.problems) == (["second", "third"], ())


def test_everything_that_is_wrong_with_sources_is_named(tmp_path: Path) -> None:
    write_module(tmp_path, "wrong_source", DO.format(name="first") + "ALL = [first, 3]\ndef plain(): ...\n")
    write_module(tmp_path, "raising_source", "1 / 0\n")
    write_module(tmp_path, "json", DO.format(name="first"))
    assert problems(
        tmp_path,
        *(
            f"{tmp_path}:{source}"
            for source in (
                "wrong_source:ALL",
                "wrong_source:plain",
                "wrong_source:nothing",
                "there.is_no:such",
                "raising_source:x",
                "json:first",
            )
        ),
    ) == [
        "wrong_source:ALL[1]: is no function with @tool above it, and no list of such functions",
        "wrong_source:plain: is no function with @tool above it, and no list of such functions",
        "wrong_source:nothing: the module has no 'nothing'",
        f"there.is_no: there is no module 'there' in {tmp_path} or among what is installed",
        "raising_source.py:6: cannot be imported: ZeroDivisionError: division by zero",
        f"json: a module of this name is there already: {sys.modules['json'].__file__}",
    ]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        pytest.param("builtin", BUILTIN_DIRECTORY, id="the word"),
        pytest.param("tools", Path("tools"), id="a directory"),
        pytest.param("./a:b", Path("./a:b"), id="a directory with a colon"),
        pytest.param("C:tools:3", Path("C:tools:3"), id="what is no name"),
        pytest.param("builtin:other", Path("builtin:other"), id="no module is called builtin"),
        pytest.param("/a b:c.d:e.f", FunctionSource(Path("/a b"), "c.d", "e.f"), id="a function somewhere"),
        pytest.param("/a:b:c:d", FunctionSource(Path("/a:b"), "c", "d"), id="a directory with colons"),
        pytest.param("c:d", FunctionSource(Path.cwd(), "c", "d"), id="a function here"),
    ],
)
def test_a_source_is_read_from_its_text(text: str, source: Path | FunctionSource) -> None:
    assert source_of(text) == source


def test_a_source_that_was_read_is_read_again_from_its_text() -> None:
    source = FunctionSource(Path("/a:b"), "c.d", "e")
    assert source_of(str(source)) == source
