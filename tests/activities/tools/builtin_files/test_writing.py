import os
import resource
from pathlib import Path
from subprocess import run

import pytest

from tests.activities.tools.builtin_files.file_calls import DIRECTORY, ask, everything_in, refused


def test_a_new_file_is_created_with_the_directories_above_it(here: Path) -> None:
    answered = ask("write_file", path="a/b/c.txt", content="é\r\n")

    expected = {"success": True, "error": None, "path": "a/b/c.txt", "action": "created", "bytes": 4}
    assert (answered, everything_in(here)) == (expected, {"a/b/c.txt": "é\r\n".encode()})


def test_a_new_file_has_the_mode_that_any_new_file_has(here: Path) -> None:
    (here / "plain").touch()
    ask("write_file", path="file", content="")
    assert (here / "file").stat().st_mode == (here / "plain").stat().st_mode


def test_a_file_that_is_overwritten_keeps_its_mode_and_its_links(here: Path) -> None:
    (here / "sub").mkdir()
    file = here / "sub" / "tool"
    file.write_text("old, and longer\n")
    file.chmod(0o4750)
    (here / "link").symlink_to("sub/tool")

    answered = ask("write_file", path="link", content="new\n")

    assert (answered["action"], everything_in(here)) == ("overwritten", {"sub/tool": b"new\n"})
    assert (file.stat().st_mode & 0o7777, (here / "link").readlink()) == (0o4750, Path("sub/tool"))


def test_who_reads_meanwhile_goes_on_with_the_old_file(here: Path) -> None:
    (here / "file").write_text("old\n")
    with (here / "file").open() as opened:
        ask("write_file", path="file", content="new\n")
        assert (opened.read(), (here / "file").read_text()) == ("old\n", "new\n")


def test_a_link_to_nothing_inside_is_followed(here: Path) -> None:
    (here / "link").symlink_to("file")
    ask("write_file", path="link", content="new\n")
    assert ((here / "link").is_symlink(), (here / "file").read_text()) == (True, "new\n")


@pytest.mark.parametrize(
    ("path", "error"),
    [
        pytest.param("sub", "'sub' is a directory", id="a directory"),
        pytest.param("new/", "'new/' names a directory", id="a name of a directory"),
        pytest.param("kept/file", "'kept/file': Not a directory", id="below a file"),
        pytest.param("..", "leads outside of the working directory", id="outside"),
        pytest.param("new/../../file", "leads outside of the working directory", id="outside of new"),
    ],
)
def test_what_cannot_be_written_is_left_as_it_is(here: Path, path: str, error: str) -> None:
    (here / "sub").mkdir()
    (here / "kept").write_text("kept\n")

    code, said = refused("write_file", path=path, content="x")

    assert (code, error in said, everything_in(here)) == ("invalid_input", True, {"kept": b"kept\n"})


def test_a_file_that_does_not_fit_leaves_the_old_one_and_no_piece_of_itself(here: Path) -> None:
    (here / "file").write_text("old\n")

    ended = run(
        [DIRECTORY / "write_file", "-"],
        input=b'{"path": "file", "content": "%s"}' % (b"x" * 9_000),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096)),
        capture_output=True,
        check=True,
    )

    assert b'"success": false, "error": "\'file\': File too large"' in ended.stdout
    assert everything_in(here) == {"file": b"old\n"}
    assert os.listdir(here) == ["file"]  # noqa: PTH208
