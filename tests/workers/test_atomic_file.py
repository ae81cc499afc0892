from pathlib import Path

import pytest

from workers.atomic_file import write_atomically


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")

    write_atomically(tmp_path / "file", "after")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "after"}


def test_a_text_that_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("before")

    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "file", "half \ud800")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"file": "before"}
