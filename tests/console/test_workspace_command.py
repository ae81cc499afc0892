from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import Surefoot

LOOK_AND_LEAVE = """
steps:
  - call:
      - bash: {command: "ls; touch left; pwd"}
  - say: "{{last.result.stdout}}"
"""


@pytest.fixture
def model(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "script.yaml").write_text(LOOK_AND_LEAVE)
    return "--model", f"scripted:{tmp_path}/script.yaml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "notes.txt").touch()
    return tmp_path / "project"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "found"),
    [
        pytest.param([], ["", ""], id="none is named"),
        pytest.param(["--workdir", "project"], ["notes.txt\n", "left\nnotes.txt\n"], id="one is named"),
        pytest.param(
            ["--workdir", "project", "--workspace", "copy"], ["notes.txt\n", "notes.txt\n"], id="of a copy"
        ),
    ],
)
def test_runs_of_a_worker_meet_only_in_a_directory_that_was_named(
    surefoot: Surefoot,
    server: RealServer,
    model: tuple[str, str],
    project: Path,
    options: list[str],
    found: list[str],
) -> None:
    place = ("--address", server.address, "--queue", f"queue-of-{project.parent.name}")
    named = [str(project) if option == "project" else option for option in options]
    own = {"SUREFOOT_WORKSPACES": str(project.parent / "runs")}
    worker = surefoot.start("worker", *place, "--tools", "builtin", *named, environment=own)
    worker.until_it_says('"event": "serving"')

    ids = [f"{project.parent.name}-{n}" for n in (1, 2)]
    ended = [surefoot("run", "Look.", *place, *model, "--workflow-id", one) for one in ids]

    places = (
        [str(project)] * 2
        if options == ["--workdir", "project"]
        else [f"{project.parent}/runs/{one}" for one in ids]
    )
    assert [one.stdout for one in ended] == [
        f"{seen}{place}\n" for seen, place in zip(found, places, strict=True)
    ]


@pytest.mark.slow
def test_a_run_in_a_copy_leaves_the_directory_alone_and_says_where_it_works(
    surefoot: Surefoot, model: tuple[str, str], project: Path
) -> None:
    ended = surefoot(
        "run", "Look.", *model, "--workdir", project, "--workspace", "copy", "--workflow-id", "mine",
        environment={"SUREFOOT_WORKSPACES": str(project.parent / "runs")},
    )  # fmt: skip

    copy = project.parent / "runs" / "mine"
    assert (ended.exit_code, ended.stdout) == (0, f"notes.txt\n{copy}\n")
    assert f"its tools work in {copy}\n" in ended.stderr
    assert [path.name for path in project.iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_a_run_whose_directory_cannot_be_made_is_not_started(
    surefoot: Surefoot, model: tuple[str, str], project: Path
) -> None:
    (project.parent / "runs").touch()
    ended = surefoot(
        "run", "Look.", *model, "--workspace", "own", "--workflow-id", "mine",
        environment={"SUREFOOT_WORKSPACES": str(project.parent / "runs")},
    )  # fmt: skip

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.splitlines()[-1] == (
        f"surefoot: the run has no directory to work in: {project.parent}/runs/mine: File exists"
    )


def test_a_run_at_a_server_has_the_directory_of_its_worker(
    surefoot: Surefoot, model: tuple[str, str]
) -> None:
    ended = surefoot("run", "Look.", *model, "--workspace", "own", "--address", "127.0.0.1:1")

    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "--workspace belongs to the worker: start `surefoot worker --workspace …`" in ended.stderr
