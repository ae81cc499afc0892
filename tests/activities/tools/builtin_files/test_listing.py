import os
import socket
from pathlib import Path

import pytest

from tests.activities.tools.builtin_files.file_calls import ask, refused


def test_every_entry_is_named_with_its_kind_and_files_with_their_size(here: Path) -> None:
    (here / "sub").mkdir()
    (here / ".hidden").write_text("123")
    (here / "B").write_text("")
    (here / "a").symlink_to("../secret")
    os.mkfifo(here / "pipe")
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("door")
    Path(os.fsdecode(b"\xff")).touch()

    answered = ask("list_dir")

    assert answered == {
        "success": True,
        "error": None,
        "path": ".",
        "entries": [
            {"name": ".hidden", "kind": "file", "bytes": 3},
            {"name": "B", "kind": "file", "bytes": 0},
            {"name": "a", "kind": "symlink", "target": "../secret"},
            {"name": "door", "kind": "socket"},
            {"name": "pipe", "kind": "fifo"},
            {"name": "sub", "kind": "directory"},
            {"name": "\ufffd", "kind": "file", "bytes": 0},
        ],
        "total": 7,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("length", "shown"),
    [
        pytest.param(5, 1_000, id="many names"),
        pytest.param(250, 273, id="long names"),
    ],
)
def test_a_large_directory_is_shown_in_part(here: Path, length: int, shown: int) -> None:
    for number in range(1_001):
        (here / f"{number:0{length}}").touch()

    answered = ask("list_dir")

    assert (len(answered["entries"]), answered["total"], answered["truncated"]) == (shown, 1_001, True)


@pytest.mark.parametrize(
    ("path", "code", "error"),
    [
        pytest.param("file", "invalid_input", "'file' is no directory", id="a file"),
        pytest.param("gone", "not_found", "there is no 'gone'", id="missing"),
        pytest.param("..", "invalid_input", "'..' leads outside of the working directory", id="outside"),
    ],
)
def test_what_is_no_directory_is_named(here: Path, path: str, code: str, error: str) -> None:
    (here / "file").touch()
    assert refused("list_dir", path=path) == (code, error)
