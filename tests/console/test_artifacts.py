import asyncio
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from activities.store.directory import DirectoryStore
from console.artifacts import artifacts_app
from console.errors import CommandError
from tests.activities.store.s3_server import s3_server

KEPT = {
    "artifacts/run-1/2-1-abc123.json": b'{"rows": [1, 2]}',
    "artifacts/run-1/3-1-def456.stdout.txt": b"\xff\x00 not text \x1b[31m",
    "artifacts/run-2/1-1-fed321.json": b"[]",
    "conversations/run-1/0-9-abcdef": b"a conversation",
}


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of the settings: every object is a day older than the one after it."""
    directory = tmp_path / "store"
    store = DirectoryStore(directory)
    for age_days, (key, data) in enumerate(KEPT.items()):
        asyncio.run(store.put(key, data))
        stored_at = datetime(2026, 1, 2 + age_days, 3, 4, 5, tzinfo=UTC).timestamp()
        os.utime(store.file(key), (stored_at, stored_at))
    monkeypatch.setenv("SUREFOOT_STORE", str(directory))
    return directory


@pytest.fixture
def artifacts(capfdbinary: pytest.CaptureFixture[bytes]) -> "Command":
    return Command(capfdbinary)


class Command:
    """`surefoot artifacts …` inside this process, up to its exit code."""

    def __init__(self, captured: pytest.CaptureFixture[bytes]) -> None:
        self._captured = captured

    def __call__(self, *arguments: str | Path) -> tuple[int, bytes, str]:
        try:
            exit_code = artifacts_app([str(one) for one in arguments], standalone_mode=False)
        except CommandError as error:
            exit_code = error.exit_code
            sys.stderr.write(error.message)
        said = self._captured.readouterr()
        return int(exit_code), said.out, said.err.decode()


def test_artifacts_are_listed_the_oldest_first(artifacts: Command) -> None:
    assert artifacts("list")[1].decode().splitlines() == [
        "STORED                BYTES  ID",
        "2026-01-02 03:04:05Z     16  run-1/2-1-abc123.json",
        "2026-01-03 03:04:05Z     17  run-1/3-1-def456.stdout.txt",
        "2026-01-04 03:04:05Z      2  run-2/1-1-fed321.json",
    ]


def test_the_artifacts_of_one_run_are_listed_for_a_program(artifacts: Command, directory: Path) -> None:
    exit_code, stdout, _ = artifacts("list", "--run", "run-2", "-o", "json")

    assert (exit_code, json.loads(stdout)) == (
        0,
        [
            {
                "id": "run-2/1-1-fed321.json",
                "bytes": 2,
                "stored_at": "2026-01-04T03:04:05+00:00",
                "path": str(directory / "artifacts/run-2/1-1-fed321.json"),
            }
        ],
    )


@pytest.mark.parametrize(
    "named",
    [
        pytest.param("run-1/3-1-def456.stdout.txt", id="its id"),
        pytest.param("{store}/artifacts/run-1/3-1-def456.stdout.txt", id="its path"),
        pytest.param("/elsewhere/artifacts/run-1/3-1-def456.stdout.txt", id="its path on another machine"),
    ],
)
def test_an_artifact_is_given_byte_for_byte_by(named: str, artifacts: Command, directory: Path) -> None:
    named = named.format(store=directory)
    file = directory.parent / "copy"

    assert artifacts("get", named) == (0, KEPT["artifacts/run-1/3-1-def456.stdout.txt"], "")
    assert artifacts("get", named, "--output", file) == (0, b"", "")
    assert file.read_bytes() == KEPT["artifacts/run-1/3-1-def456.stdout.txt"]
    assert artifacts("path", named)[1].decode() == f"{directory}/artifacts/run-1/3-1-def456.stdout.txt\n"


@pytest.mark.parametrize(
    ("options", "said", "left"),
    [
        pytest.param(["1d"], "3 artifacts removed: 35 bytes", ["conversations"], id="artifacts"),
        pytest.param(["1d", "--conversations"], "4 objects removed: 49 bytes", [], id="conversations, too"),
        pytest.param(
            ["9999w"], "0 artifacts removed: 0 bytes", ["artifacts", "conversations"], id="old ones"
        ),
        pytest.param(
            ["1d", "--dry-run"],
            "3 artifacts would be removed: 35 bytes",
            ["artifacts", "conversations"],
            id="none in a trial",
        ),
    ],
)
def test_pruning_removes(
    options: list[str], said: str, left: list[str], artifacts: Command, directory: Path
) -> None:
    assert artifacts("prune", "--older-than", *options) == (0, f"{said}\n".encode(), "")
    assert sorted(path.name for path in directory.iterdir()) == left


@pytest.mark.parametrize(
    ("arguments", "exit_code", "error"),
    [
        pytest.param(
            ["get", "run-1/9-9-aaaaaa.json"],
            2,
            "there is no artifact 'run-1/9-9-aaaaaa.json' in the store {store}; "
            "`surefoot artifacts list` shows what there is",
            id="an unknown id",
        ),
        pytest.param(
            ["path", "run-1"],
            2,
            "there is no artifact 'run-1' in the store {store}; "
            "`surefoot artifacts list` shows what there is",
            id="a run's id",
        ),
        pytest.param(
            ["get", "../../etc/passwd"],
            2,
            "'../../etc/passwd' cannot be an artifact's id; `surefoot artifacts list` shows them",
            id="a way out",
        ),
        pytest.param(
            ["get", "/etc/passwd"],
            2,
            "'/etc/passwd' cannot be an artifact's id; `surefoot artifacts list` shows them",
            id="another file",
        ),
        pytest.param(
            ["get", "run-2/1-1-fed321.json", "--output", "/nowhere/a"],
            1,
            "/nowhere/a cannot be written: No such file or directory",
            id="nowhere to write it",
        ),
        pytest.param(
            ["prune", "--older-than", "ninety days"],
            2,
            "'ninety days' is no age: it is a whole number and s, m, h, d or w, such as 90d",
            id="no age",
        ),
        pytest.param(
            ["prune", "--older-than", "999999w"],
            2,
            "'999999w' is older than the calendar",
            id="an age of 19,000 years",
        ),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], exit_code: int, error: str, artifacts: Command, directory: Path
) -> None:
    assert artifacts(*arguments) == (exit_code, b"", error.format(store=directory))


@pytest.mark.parametrize("command", [["list"], ["get", "a"], ["prune", "--older-than", "1d"]])
def test_a_store_that_cannot_be_used_is_one_sentence(
    command: list[str], artifacts: Command, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = directory.parent / "file"
    file.write_text("no directory")
    monkeypatch.setenv("SUREFOOT_STORE", str(file))

    exit_code, stdout, stderr = artifacts(*command)

    reason = f"the store {file} cannot be read: Not a directory"
    assert (exit_code, stdout, stderr) == (1, b"", reason)


def test_artifacts_in_s3_are_read_by_their_id(artifacts: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server("bucket") as server:
        monkeypatch.setenv("SUREFOOT_STORE", "s3://bucket/ours")
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        server.buckets["bucket"]["ours/artifacts/run-1/1-1-abcdef.json"] = b"[1]"

        listed = json.loads(artifacts("list", "-o", "json")[1])
        read = artifacts("get", "run-1/1-1-abcdef.json")
        asked_for_a_path = artifacts("path", "run-1/1-1-abcdef.json")
        server.failing = 403
        denied = artifacts("get", "run-1/1-1-abcdef.json")

    assert [(one["id"], one["bytes"], one["path"]) for one in listed] == [("run-1/1-1-abcdef.json", 3, None)]
    assert read == (0, b"[1]", "")
    assert asked_for_a_path == (
        2,
        b"",
        "the store s3://bucket/ours has no plain files; `surefoot artifacts get` reads an artifact",
    )
    assert (denied[0], denied[2]) == (
        1,
        (
            "the store s3://bucket/ours cannot be read: access was denied; "
            "check the credentials and their rights"
        ),
    )
