"""Which level the settings choose, and what they hide."""

from pathlib import Path

import pytest

from activities.tools.sandbox.probe import levels, why_not
from workers.settings import Settings, SettingsError
from workers.walls import sandbox_of


def settings(directory: Path, **more: str) -> Settings:
    return Settings.model_validate({"state_directory": directory / "state", **more})


@pytest.mark.parametrize("asked", ["auto", "required"])
def test_the_strongest_level_is_chosen(tmp_path: Path, asked: str) -> None:
    if levels()[0] == "none":
        pytest.skip(f"this machine has no walls: {why_not('bwrap')}")
    assert sandbox_of(settings(tmp_path, sandbox=asked)).level == levels()[0]


def test_the_state_directory_and_the_store_are_hidden(tmp_path: Path) -> None:
    sandbox = sandbox_of(settings(tmp_path, sandbox="none", store=str(tmp_path / "kept")))
    assert sandbox.hidden == (tmp_path / "state", tmp_path / "kept")


def test_what_is_named_is_visible(tmp_path: Path) -> None:
    sandbox = sandbox_of(settings(tmp_path, sandbox="none", sandbox_read="/srv/a:/srv/b"))
    assert sandbox.visible == (Path("/srv/a"), Path("/srv/b"))


def test_a_level_that_does_not_work_here_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    why_not.cache_clear()
    try:
        with pytest.raises(SettingsError) as refused:
            sandbox_of(settings(tmp_path, sandbox="bwrap"))
    finally:
        why_not.cache_clear()
    assert str(refused.value) == (
        "SUREFOOT_SANDBOX is 'bwrap', which does not work here: there is no bwrap on the PATH: install the "
        "package bubblewrap"
    )
