from pathlib import Path

import pytest


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a secret beside it."""
    directory = tmp_path / "here"
    directory.mkdir()
    (tmp_path / "secret").write_text("secret\n")
    monkeypatch.chdir(directory)
    return directory
