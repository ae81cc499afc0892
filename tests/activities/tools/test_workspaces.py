import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from activities.tools.workspaces import (
    Workspace,
    WorkspaceError,
    Workspaces,
    directory_name,
    make_workspace,
)

GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    return subprocess.run(
        ["git", *identity, "-C", directory, *arguments], env=GIT, capture_output=True, check=True, text=True
    ).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "project"
    (top / "src").mkdir(parents=True)
    (top / "src" / "main.py").write_text("print(1)\n")
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "--message=Begin")
    (top / "src" / "secret.env").write_text("KEY=1\n")
    return top


@pytest.mark.parametrize(
    ("workflow_id", "name"),
    [
        pytest.param("run-1a", "run-1a", id="a run"),
        pytest.param("run-1a/1-2", "run-1a", id="an agent that it calls"),
        pytest.param("run-1a/1-2/10-1", "run-1a", id="an agent of that agent"),
        pytest.param("../../etc", "_etc.74ccf3c5b4c19a81", id="a path"),
        pytest.param("..", "_.5ec1f7e700f37c3d", id="nothing but dots"),
        pytest.param("a b", "a_b.c8687a08aa5d6ed2", id="a blank"),
    ],
)
def test_a_runs_directory_is_named_after_it_and_is_no_path(workflow_id: str, name: str) -> None:
    assert directory_name(workflow_id) == name


def test_names_that_look_alike_are_told_apart() -> None:
    alike = ("a b", "a-b", "a_b", "a/b", "a\tb", directory_name("a b"))
    assert len({directory_name(name) for name in alike}) == len(alike)


async def test_runs_share_the_directory_that_was_named_unless_told_otherwise(tmp_path: Path) -> None:
    assert await Workspaces(tmp_path).of("run-1") == tmp_path


async def test_each_run_has_an_empty_directory_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path, "own", tmp_path / "runs")
    first, again, other = await asyncio.gather(*map(workspaces.of, ("run-1", "run-1/3-1", "run-2")))
    (first / "file").touch()
    later = await Workspaces(tmp_path, "own", tmp_path / "runs").of("run-1")

    assert (first, again, later) == (tmp_path / "runs" / "run-1",) * 3
    assert list(later.iterdir()) == [first / "file"]
    assert list(other.iterdir()) == []
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["run-1", "run-2"]
    assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700


def test_a_copy_has_all_that_lies_in_the_directory_and_leaves_it_alone(tmp_path: Path) -> None:
    named = tmp_path / "named"
    (named / "deep").mkdir(parents=True)
    (named / "deep" / "file").write_text("old")
    (named / "link").symlink_to("deep/file")

    copy = make_workspace("copy", named, tmp_path / "runs", "run-1")
    (copy / "deep" / "file").write_text("new")

    assert (named / "deep" / "file").read_text() == "old"
    assert (copy / "link").readlink() == Path("deep/file")


def test_a_copy_of_a_repository_is_a_clone_that_shares_nothing_with_it(
    repository: Path, tmp_path: Path
) -> None:
    copy = make_workspace("copy", repository / "src", tmp_path / "runs", "run-1")
    (copy / "main.py").write_text("print(2)\n")
    git(copy, "commit", "--quiet", "--all", "--message=Change")
    inodes = {path.stat().st_ino for path in (repository / ".git").rglob("*") if path.is_file()}
    copied = {path.stat().st_ino for path in (copy.parent / ".git").rglob("*") if path.is_file()}

    assert sorted(path.name for path in copy.iterdir()) == ["main.py"]
    assert git(repository, "log", "--format=%s") == "Begin\n"
    assert not inodes & copied
    git(repository, "fetch", "--quiet", str(copy.parent), "HEAD")
    assert git(repository, "log", "-1", "--format=%s", "FETCH_HEAD") == "Change\n"


def test_hooks_of_the_repository_are_not_run(repository: Path, tmp_path: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    make_workspace("copy", repository, tmp_path / "runs", "run-1")

    assert not (tmp_path / "ran").exists()


def test_a_git_that_a_tool_may_have_left_on_the_path_is_not_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = repository / "bin" / "git"
    planted.parent.mkdir()
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted.parent}:{os.environ['PATH']}")
    make_workspace("copy", repository, tmp_path / "place", "run")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("workspace", "blocked", "reason"),
    [
        pytest.param("own", "runs", "File exists", id="a file stands where they are"),
        pytest.param("copy", "named", "No such file or directory", id="what is to be copied is gone"),
    ],
)
def test_a_directory_that_cannot_be_made_is_one_sentence(
    workspace: Workspace, blocked: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "named").mkdir()
    if blocked == "runs":
        (tmp_path / "runs").touch()
    else:
        (tmp_path / "named").rmdir()
    with pytest.raises(WorkspaceError) as refused:
        make_workspace(workspace, tmp_path / "named", tmp_path / "runs", "run-1")

    assert str(refused.value) == (f"the run has no directory to work in: {tmp_path}/runs/run-1: {reason}")
    assert not (tmp_path / "runs").is_dir() or list((tmp_path / "runs").iterdir()) == []


def test_a_part_of_a_repository_that_is_not_committed_cannot_be_copied(
    repository: Path, tmp_path: Path
) -> None:
    (repository / "new").mkdir()
    with pytest.raises(WorkspaceError, match="new is not committed in"):
        make_workspace("copy", repository / "new", tmp_path / "runs", "run-1")
