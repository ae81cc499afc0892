import json
import os
from pathlib import Path

import pytest

from tests.activities.tools.builtin_files.file_calls import ask, open_descriptors, refused

TREE = {
    "src/main.c": b"int main() {\n// TODO: one\n}\n",
    "src/db.c": b"// todo: two\r\n",
    "src/deep/er/x.py": b"# TODO\n",
    ".hidden": b"TODO\n",
    ".git/config": b"TODO\n",
    "src/.git": b"TODO\n",
    "binary": b"TODO\n\0",
    "latin-1": b"TODO \xe9\n",
    "long": b"x" * 600 + b"TODO\n",
    "windows": b"1\r\n2\r\nTODO\r\n",
    "nested/\udcff": b"1\n2\nTODO \xff\n",
}


@pytest.fixture
def tree(here: Path) -> Path:
    for name, content in TREE.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_bytes(content)
    (here / "link").symlink_to("../secret")
    (here / "up").symlink_to("..")
    (here / "again").symlink_to("src")
    return here


@pytest.fixture
def no_ripgrep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


def found(**params: object) -> list[str]:
    answered = ask("search", **params)
    assert (answered["success"], answered["error"]) == (True, None), answered
    return [f"{match['path']}:{match['line']}:{match['text']}" for match in answered["matches"]]


@pytest.mark.usefixtures("tree", "no_ripgrep")
@pytest.mark.parametrize(
    ("params", "lines"),
    [
        pytest.param(
            {"pattern": "TODO"},
            [
                ".hidden:1:TODO",
                "latin-1:1:TODO \ufffd",
                f"long:1:{'x' * 500}… [104 more characters]",
                "nested/\ufffd:3:TODO \ufffd",
                "src/deep/er/x.py:1:# TODO",
                "src/main.c:2:// TODO: one",
                "windows:3:TODO",
            ],
            id="everywhere",
        ),
        pytest.param({"pattern": "todo:", "path": "src"}, ["src/db.c:1:// todo: two"], id="in a directory"),
        pytest.param(
            {"pattern": "todo:", "path": "./src/", "case": "insensitive"},
            ["./src/db.c:1:// todo: two", "./src/main.c:2:// TODO: one"],
            id="in any case",
        ),
        pytest.param(
            {"pattern": "TODO", "path": "src/main.c"}, ["src/main.c:2:// TODO: one"], id="in a file"
        ),
        pytest.param({"pattern": "TODO", "path": "binary"}, [], id="in a binary file"),
        pytest.param(
            {"pattern": "two$", "path": "again"}, ["again/db.c:1:// todo: two"], id="through a link"
        ),
        pytest.param({"pattern": "TODO", "glob": "*.py"}, ["src/deep/er/x.py:1:# TODO"], id="a glob"),
        pytest.param({"pattern": "secret"}, [], id="nothing outside"),
        pytest.param({"pattern": "^$"}, [], id="no line after the last"),
    ],
)
def test_lines_that_match_are_given_by_file_and_number(params: dict[str, object], lines: list[str]) -> None:
    before = open_descriptors()
    assert (found(**params), open_descriptors()) == (lines, before)


@pytest.mark.usefixtures("tree", "no_ripgrep")
def test_more_matches_than_are_wanted_are_said_to_be_there() -> None:
    answered = ask("search", pattern=".", max_results=2)
    assert (len(answered["matches"]), answered["truncated"]) == (2, True)


@pytest.mark.usefixtures("tree", "no_ripgrep")
@pytest.mark.parametrize(
    ("params", "code", "error"),
    [
        pytest.param(
            {"pattern": "(a"}, "invalid_input", "the pattern cannot be read: missing )", id="pattern"
        ),
        pytest.param({"pattern": "a", "glob": "[b-a]"}, "invalid_input", "the glob '[b-a]'", id="a glob"),
        pytest.param(
            {"pattern": "a", "path": "gone"}, "not_found", "there is no 'gone'", id="a missing path"
        ),
        pytest.param({"pattern": "a", "path": "up"}, "invalid_input", "leads outside", id="a link outside"),
    ],
)
def test_a_search_that_cannot_be_made_says_why(params: dict[str, object], code: str, error: str) -> None:
    answered_code, answered_error = refused("search", **params)
    assert (answered_code, error in answered_error) == (code, True), answered_error


@pytest.mark.usefixtures("no_ripgrep")
def test_a_pattern_that_would_take_for_ever_is_stopped_with_what_was_found(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUREFOOT_TIMEOUT_SECONDS", "0.3")
    (here / "a").write_text("aa\n")
    (here / "b").write_text("a" * 40 + "b\n")

    answered = ask("search", pattern="^(a+)+$")

    assert (answered["success"], answered["error_code"], answered["truncated"]) == (False, "timeout", True)
    assert [match["path"] for match in answered["matches"]] == ["a"]


RIPGREP = """#!/bin/sh
printf '%s\\n' "$PWD" "$@" > "$0.called"
cat "$0.says"
cat "$0.complains" >&2
exit $(cat "$0.exits")
"""


class Ripgrep:
    """Stands in for ripgrep: says what the real one was recorded to say, and keeps how it was called."""

    def __init__(self, path: Path) -> None:
        self._path = path / "rg"
        self._path.write_text(RIPGREP)
        self._path.chmod(0o755)
        self.will([], exits=1)

    def will(self, messages: list[object], *, complains: str = "", exits: int = 0) -> None:
        says = "".join(json.dumps(message) + "\n" for message in messages)
        for ending, text in (("says", says), ("complains", complains), ("exits", str(exits))):
            self._path.with_suffix(f".{ending}").write_text(text)

    @property
    def called(self) -> list[str]:
        return self._path.with_suffix(".called").read_text().splitlines()


@pytest.fixture
def ripgrep(here: Path, monkeypatch: pytest.MonkeyPatch) -> Ripgrep:
    (here.parent / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{here.parent / 'bin'}:{os.environ['PATH']}")
    return Ripgrep(here.parent / "bin")


def said_of(path: dict[str, str], lines: dict[str, str], binary_offset: int | None = None) -> list[object]:
    match = {
        "path": path,
        "lines": lines,
        "line_number": 3,
        "absolute_offset": 9,
        "submatches": list[object](),
    }
    return [
        {"type": "begin", "data": {"path": path}},
        {"type": "match", "data": match},
        {"type": "end", "data": {"path": path, "binary_offset": binary_offset, "stats": {}}},
    ]


def test_ripgrep_answers_in_the_same_shape(tree: Path, ripgrep: Ripgrep) -> None:
    ripgrep.will(
        [
            *said_of({"bytes": "Li9uZXN0ZWQv/w=="}, {"bytes": "VE9ETyD/Cg=="}),
            *said_of({"text": "./binary"}, {"text": "TODO\n"}, binary_offset=5),
            *said_of({"text": "./windows"}, {"text": "TODO\r\n"}),
            {"type": "summary", "data": {}},
        ]
    )

    assert found(pattern="TO.O", path="./", glob="*s", case="insensitive") == [
        "./nested/\ufffd:3:TODO \ufffd",
        "./windows:3:TODO",
    ]
    directory, *arguments = ripgrep.called
    assert (directory, arguments[-6:]) == (
        str(tree),
        ["--glob=*s", "--glob=!.git", "--ignore-case", "--regexp=TO.O", "--", "."],
    )


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param("./link", id="through a link"),
        pytest.param("./up/secret", id="through a linked directory"),
        pytest.param("./src/main.c", id="what is in another file now"),
        pytest.param("./gone", id="what is gone"),
    ],
)
def test_what_ripgrep_has_read_elsewhere_is_not_shown(ripgrep: Ripgrep, path: str) -> None:
    ripgrep.will(said_of({"text": path}, {"text": "secret\n"}))
    assert found(pattern="secret") == []


def test_ripgrep_searches_a_single_file_by_its_descriptor(tree: Path, ripgrep: Ripgrep) -> None:
    ripgrep.will(said_of({"text": "<stdin>"}, {"text": "TODO\n"}))

    assert found(pattern="-TODO", path="src/main.c") == ["src/main.c:3:TODO"]
    assert ripgrep.called[-4:] == ["--case-sensitive", "--regexp=-TODO", "--", "-"]


def test_what_ripgrep_cannot_read_is_an_error_of_the_operation(tree: Path, ripgrep: Ripgrep) -> None:
    ripgrep.will([], complains="rg: regex parse error:\n", exits=2)
    assert refused("search", pattern="(a") == ("invalid_input", "ripgrep says: rg: regex parse error:")


def test_a_file_that_ripgrep_may_not_read_is_left_out(tree: Path, ripgrep: Ripgrep) -> None:
    ripgrep.will(said_of({"text": "./windows"}, {"text": "TODO\r\n"}), exits=2)
    assert found(pattern="TODO") == ["windows:3:TODO"]
