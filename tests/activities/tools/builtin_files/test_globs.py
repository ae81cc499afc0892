import pytest

from activities.tools.builtin_files.globs import Glob


@pytest.mark.parametrize(
    ("glob", "taken", "left"),
    [
        pytest.param("*.py", ["a.py", "x/y/a.py"], ["a.pyc", "py"], id="a name at any depth"),
        pytest.param("/*.py", ["a.py"], ["x/a.py"], id="a name at the top"),
        pytest.param("src/*.py", ["src/a.py"], ["src/x/a.py", "x/src/a.py"], id="a path"),
        pytest.param("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["a.py"], id="a path of any depth"),
        pytest.param("**/test_?.py", ["test_a.py", "x/test_b.py"], ["test_ab.py"], id="one character"),
        pytest.param("src/**", ["src/a", "src/x/a"], ["src", "srcs/a"], id="all that is below"),
        pytest.param("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.js", "a.ts,tsx"], id="choices"),
        pytest.param("[!a-c]*", ["d", "x/dd"], ["a", "x/b"], id="other characters"),
        pytest.param("!*.py", ["a.c", "x/b"], ["a.py", "x/a.py"], id="all others"),
        pytest.param("a.b(c)+", ["a.b(c)+"], ["aab(c)+", "a.bcc"], id="signs of patterns"),
        pytest.param("a,b", ["a,b"], ["a", "b"], id="a comma"),
        pytest.param("\\*", ["*", "x/*"], ["a"], id="a star by itself"),
    ],
)
def test_a_glob_takes_the_files_that_are_meant(glob: str, taken: list[str], left: list[str]) -> None:
    read = Glob(glob)
    assert [path for path in [*taken, *left] if read.takes(path)] == taken
