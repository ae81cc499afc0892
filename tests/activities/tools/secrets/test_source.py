from collections.abc import Callable
from pathlib import Path

import pytest

from activities.tools.secrets.source import SecretSource


def of(directory: Path, **variables: str) -> SecretSource:
    return SecretSource.of({"SUREFOOT_SECRETS": str(directory), "PATH": "/bin", **variables})


def test_files_and_variables_are_secrets_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "..2026_01").mkdir()
    (tmp_path / "..2026_01" / "api.key").write_text("from-kubernetes")
    (tmp_path / "api.key").symlink_to("..2026_01/api.key")
    (tmp_path / "GH_TOKEN").write_text("a-file-counts\n")
    (tmp_path / ".hidden").write_text("no secret of ours")
    source = of(tmp_path, SUREFOOT_SECRET_GH_TOKEN="not this one", SUREFOOT_SECRET_DB="from-a-variable")
    assert dict(source.read()) == {
        "api.key": "from-kubernetes",
        "GH_TOKEN": "a-file-counts",
        "DB": "from-a-variable",
    }


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    source = of(tmp_path)
    (tmp_path / "KEY").write_text("the-first")
    before = source.read()["KEY"]
    (tmp_path / "KEY").write_text("the-second")
    assert (before, source.read()["KEY"]) == ("the-first", "the-second")


def write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(
            write(b"12345\n"), "is a secret of fewer than 6 characters, too short to be hidden", id="short"
        ),
        pytest.param(write(b"\xff" * 10), "is no text in UTF-8", id="no text"),
        pytest.param(write(b"x" * 70_000), "is larger than 64KB", id="large"),
        pytest.param(
            write(b"hunter2\0hunter2"),
            "holds what no tool can be given: a null character, or bytes that are no UTF-8",
            id="null",
        ),
        pytest.param(link, "cannot be read: No such file or directory", id="gone"),
    ],
)
def test_what_cannot_be_a_secret_is_refused_without_being_named(
    tmp_path: Path, make: Callable[[Path], object], reason: str
) -> None:
    make(tmp_path / "KEY")
    source = of(tmp_path)
    assert ([str(one) for one in source.problems()], dict(source.read())) == (
        [f"{tmp_path / 'KEY'}: {reason}"],
        {},
    )


def test_a_directory_that_is_missing_is_a_problem(tmp_path: Path) -> None:
    (problem,) = of(tmp_path / "no").problems()
    assert str(problem) == f"{tmp_path / 'no'}: SUREFOOT_SECRETS: is no directory of secrets that can be read"
