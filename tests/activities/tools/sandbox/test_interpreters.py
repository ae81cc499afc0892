"""Which programs are shown that are no part of the system."""

import sys
from pathlib import Path

import pytest

from activities.tools.sandbox.interpreters import installations

OWN = set(installations(None, None, None))
"""What is shown in any case: the interpreter and the packages of Surefoot."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for directory in (".local/bin", ".local/lib", ".local/share/keyrings", ".pyenv/shims", ".cargo/bin"):
        (tmp_path / "home" / directory).mkdir(parents=True)
    (tmp_path / "home" / ".rustup").mkdir()
    return tmp_path / "home"


def shown(home: Path, path: str, interpreter: str | None = None) -> set[str]:
    """What is shown beside what is shown in any case, below the home as its name there."""
    found = set(installations(path, str(home), interpreter)) - OWN
    return {name.removeprefix(f"{home}/") for name in found}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("{home}/.local/bin", {".local/bin", ".local/lib"}, id="with its libraries alone"),
        pytest.param(
            "{home}/.pyenv/shims", {".pyenv/shims", ".pyenv"}, id="nothing but versions of programs"
        ),
        pytest.param("{home}/.cargo/bin", {".cargo/bin", ".rustup"}, id="with what it needs elsewhere"),
        pytest.param("{home}", set[str](), id="never the home itself"),
        pytest.param("{home}/..", set[str](), id="nor what it lies in"),
        pytest.param("{home}/missing:relative:", set[str](), id="what is there"),
        pytest.param("/usr/bin:/bin", set[str](), id="nothing of the system"),
    ],
)
def test_of_a_path_what_belongs_to_its_programs_is_shown(home: Path, path: str, expected: set[str]) -> None:
    assert shown(home, path.format(home=home)) == expected


def test_packages_that_python_finds_in_a_home_are_shown_whatever_is_on_the_path(home: Path) -> None:
    (home / ".local/lib/python3.11/site-packages").mkdir(parents=True)
    (home / ".local/lib/other").mkdir()
    assert shown(home, "/usr/bin:/bin") == {".local/lib/python3.11/site-packages"}


def test_what_a_program_is_a_link_to_is_shown(home: Path) -> None:
    (home / "apps/one/bin").mkdir(parents=True)
    (home / "apps/one/bin/program").touch()
    (home / "apps/current").symlink_to("one")
    (home / "direct").touch()
    (home / ".local/bin/program").symlink_to("../../apps/current/bin/program")
    (home / ".local/bin/direct").symlink_to(home / "direct")
    assert shown(home, f"{home}/.local/bin") == {
        *(".local/bin", ".local/lib"),
        *("apps/current/bin", "apps/one/bin"),
        "direct",
    }


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("secrets/program", {"work/bin"}, id="no other directory"),
        pytest.param(
            ".pyenv/versions/3/bin/python", {"work/bin", ".pyenv", ".pyenv/versions/3/bin"}, id="a version"
        ),
    ],
)
def test_a_link_that_a_tool_may_have_made_leads_to_versions_of_programs_alone(
    home: Path, target: str, expected: set[str]
) -> None:
    (home / target).parent.mkdir(parents=True)
    (home / target).touch(mode=0o755)
    (home / "work/bin").mkdir(parents=True)
    (home / "work/bin/link").symlink_to(home / target)
    found = set(installations(f"{home}/work/bin", str(home), None, (f"{home}/work",))) - OWN
    assert {name.removeprefix(f"{home}/") for name in found} == expected


def test_a_directory_of_a_path_that_a_tool_may_have_linked_is_not_shown(home: Path) -> None:
    (home / "secrets").mkdir()
    (home / "work").mkdir()
    (home / "work/bin").symlink_to(home / "secrets")
    assert set(installations(f"{home}/work/bin", str(home), None, (f"{home}/work",))) == OWN


def test_the_interpreter_of_a_script_is_shown_with_what_it_is_a_link_to(home: Path) -> None:
    (home / "env/bin").mkdir(parents=True)
    (home / "env/pyvenv.cfg").touch()
    (home / "env/bin/python").symlink_to(sys.executable)
    assert shown(home, "", f"{home}/env/bin/python") == {"env/bin", "env/pyvenv.cfg"}
