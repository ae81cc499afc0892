import sysconfig
from pathlib import Path

import pytest

from workers.server_binary import ServerBinaryMissingError, find_server_binary
from workers.settings import Settings

OWN = Path(sysconfig.get_path("scripts")) / "temporal"


def executable(path: Path) -> Path:
    path.touch(mode=0o755)
    return path


def test_the_setting_comes_first(tmp_path: Path) -> None:
    mine = executable(tmp_path / "mine")

    assert find_server_binary(Settings(server_binary=mine)) == mine


def test_the_environment_of_surefoot_comes_before_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(tmp_path / "temporal")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_server_binary(Settings()) == OWN


def test_path_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path = executable(tmp_path / "temporal")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert find_server_binary(Settings(), scripts=tmp_path / "none") == on_path


def test_no_binary_anywhere_names_three_ways_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ServerBinaryMissingError, match=r"`local` extra.*PATH.*--address"):
        find_server_binary(Settings(), scripts=tmp_path)


@pytest.mark.parametrize(
    "mode",
    [pytest.param(None, id="missing"), pytest.param(0o644, id="not executable")],
)
def test_a_setting_that_cannot_be_run_is_not_passed_over(tmp_path: Path, mode: int | None) -> None:
    path = tmp_path / "mine"
    if mode is not None:
        path.touch(mode=mode)

    with pytest.raises(ServerBinaryMissingError) as caught:
        find_server_binary(Settings(server_binary=path))

    assert str(caught.value) == f"SUREFOOT_SERVER_BINARY is '{path}', which is not an executable file"
