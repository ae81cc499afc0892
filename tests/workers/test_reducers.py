from pathlib import Path

import pytest

from surefoot.reducer import Reducer
from workers.reducers import find_reducers, reducer_source

HEAD = "from surefoot import ToolFailed, ToolInvoked, reducer\n"
GOOD = """
@reducer("calls", initial=0)
def calls(state, event):
    return state + isinstance(event, ToolInvoked)

@reducer("failures", initial={}, on=ToolFailed)
def failures(state, event):
    return state
"""


def written(directory: Path, source: str) -> str:
    (directory / "mine.py").write_text(HEAD + source)
    return str(directory / "mine.py")


def named(reducers: tuple[Reducer, ...]) -> list[str]:
    return [reducer.name for reducer in reducers]


def test_a_file_gives_its_own_reducers_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(HEAD + "@reducer('other')\ndef other(state, event): ...\n")
    found = find_reducers([written(tmp_path, f"from .beside import other\n{GOOD}")])

    assert (named(found.reducers), found.problems) == (["calls", "failures"], ())


@pytest.mark.parametrize(
    ("attribute", "names"),
    [
        pytest.param("calls", ["calls"], id="one"),
        pytest.param("both", ["failures", "calls"], id="a list"),
    ],
)
def test_a_module_gives_what_is_named(tmp_path: Path, attribute: str, names: list[str]) -> None:
    module = f"reducers_of_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{module}.py").write_text(f"{HEAD}{GOOD}\nboth = [failures, calls]\n")

    found = find_reducers([f"{tmp_path}:{module}:{attribute}"])

    assert (named(found.reducers), found.problems) == (names, ())


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        pytest.param("x = 1", "has no function with @reducer above it", id="no reducer"),
        pytest.param("x = (", "is no Python: '(' was never closed", id="no Python"),
        pytest.param("1 / 0", "cannot be imported: ZeroDivisionError: division by zero", id="raises"),
        pytest.param(
            "@reducer('a b')\ndef f(state, event): ...",
            "a b: the name 'a b' must be 1 to 64 letters, digits, '_' and '-'",
            id="a bad name",
        ),
        pytest.param(
            "@reducer('a')\nasync def f(state, event): ...",
            "a: must be a plain function: it is called in a workflow, and gives the new state at once",
            id="async",
        ),
        pytest.param(
            "@reducer('a')\ndef f(state): ...",
            "a: must take two arguments, the state and the event",
            id="one argument",
        ),
        pytest.param(
            "@reducer('a', on=int)\ndef f(state, event): ...",
            "a: 'on' must name ToolInvoked, ToolFailed or both",
            id="another event",
        ),
        pytest.param(
            "@reducer('a', initial={1, 2})\ndef f(state, event): ...",
            "a: cannot begin with its initial state: Object of type set is not JSON serializable",
            id="a state that is no JSON",
        ),
        pytest.param(
            "@reducer('a')\ndef f(state, event): ...\n@reducer('a')\ndef g(state, event): ...",
            "--reducers: a: 2 reducers have this name",
            id="one name twice",
        ),
        pytest.param(
            "for n in range(17):\n    globals()[f'f{n}'] = reducer(f'f{n}')(lambda state, event: state)",
            "--reducers: 17 reducers are more than a run has: 16",
            id="too many",
        ),
    ],
)
def test_what_is_wrong_is_told_where_it_is(tmp_path: Path, source: str, problem: str) -> None:
    found = find_reducers([written(tmp_path, source)])

    assert len(found.problems) == 1
    assert str(found.problems[0]).endswith(problem)


def test_a_source_means_the_same_in_another_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = [str(reducer_source(text)) for text in ("mine.py", "package.module:reducers")]

    assert sources == [f"{tmp_path}/mine.py", f"{tmp_path}:package.module:reducers"]
    assert [str(reducer_source(source)) for source in sources] == sources


def test_a_file_that_is_not_there_is_told() -> None:
    assert [str(problem) for problem in find_reducers(["/nowhere/mine.py"]).problems] == [
        "/nowhere/mine.py: there is no such Python file"
    ]
