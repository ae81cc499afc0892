from pathlib import Path

import pytest

from workers.state_directory import StateDirectory, StateDirectoryError


def test_a_new_state_directory_is_for_its_user_alone(tmp_path: Path) -> None:
    state = StateDirectory.open(tmp_path / "new" / "state")

    assert (state.path.stat().st_mode & 0o777, state.queues.is_dir()) == (0o700, True)


def test_an_existing_directory_keeps_its_permissions(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    assert StateDirectory.open(tmp_path).path.stat().st_mode & 0o777 == 0o755


def test_a_file_in_its_place_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")

    with pytest.raises(StateDirectoryError) as caught:
        StateDirectory.open(tmp_path / "state")

    assert (
        str(caught.value)
        == f"cannot use the state directory {tmp_path / 'state'}: {tmp_path / 'state'} is a file"
    )
