import asyncio
import json
import os
import re
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.store.bucket import memory_store
from activities.store.directory import DirectoryStore
from activities.store.store import Store, StoreUnavailableError
from activities.tools.artifacts import Artifacts
from activities.tools.executor import ToolExecutor
from activities.tools.sources import BUILTIN_DIRECTORY
from surefoot.artifact import Excerpt
from surefoot.outcome import ToolFailure, ToolSuccess, envelope
from surefoot.sizes import MAX_ANSWER_BYTES
from tests.activities.store.s3_server import s3_server
from tests.activities.tools.disk_tools import PYTHON, SHELL, found, write_tool
from workers.settings import Settings
from workers.storage import open_store

SUREFOOT = Path(sysconfig.get_path("scripts")) / "surefoot"

LOST = "The rest could not be kept: its file cannot be read: "

ROWS = PYTHON + "import json\nprint(json.dumps({'rows': [f'row {n}' for n in range(20_000)]}))"
"""An answer of about 290 KB."""


class BrokenStore:
    """A store that takes nothing, at once or never."""

    location = "s3://bucket"

    def __init__(self, *, hangs: bool = False) -> None:
        self._hangs = hangs

    async def put(self, key: str, data: bytes) -> None:
        if self._hangs:
            await asyncio.Event().wait()
        raise StoreUnavailableError("the store s3://bucket cannot be written to: it is broken")

    async def get(self, key: str) -> bytes:
        raise NotImplementedError

    async def delete(self, key: str) -> None:
        raise NotImplementedError

    async def list(self, prefix: str = "") -> tuple[Any, ...]:
        return ()

    def file(self, key: str) -> Path | None:
        return None


def content(path: str) -> bytes:
    return Path(path).read_bytes()


async def run(
    directory: Path,
    store: Store,
    *,
    tool: str = "x",
    params: dict[str, JsonValue] | None = None,
    call_id: str = "run-1/2-1",
    seconds: float = 20,
    grace_seconds: float = 3,
) -> ToolSuccess | ToolFailure:
    tools = {**found(BUILTIN_DIRECTORY), **(found(directory / "tools") if tool == "x" else {})}
    executor = ToolExecutor(tools, directory, {"PATH": os.environ["PATH"]}, Artifacts(store, grace_seconds))
    return await executor.run(
        ToolCallInput(tool=tool, params=params or {}, call_id=call_id, timeout_seconds=seconds)
    )


async def result_of(directory: Path, store: Store, **call: Any) -> dict[str, Any]:  # noqa: ANN401
    outcome = await run(directory, store, **call)
    assert isinstance(outcome, ToolSuccess), outcome
    return cast("dict[str, Any]", outcome.result)


async def test_an_answer_above_the_limit_is_kept_whole_in_a_file_that_the_model_is_told_of(
    tmp_path: Path,
) -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
    write_tool(tmp_path / "tools", "x", ROWS, outputSchema=schema, limits={"result": 2_000})
    store = DirectoryStore(tmp_path / "store")

    outcome = await run(tmp_path, store)
    result = cast("dict[str, Any]", cast("ToolSuccess", outcome).result)
    (kept,) = await store.list()

    assert re.fullmatch(r"artifacts/run-1/2-1-[0-9a-f]{6}\.json", kept.key)
    assert result["artifact"] == str(tmp_path / "store" / kept.key)
    assert json.loads(content(result["artifact"])) == {"rows": [f"row {n}" for n in range(20_000)]}
    assert (result["truncated"], result["bytes"]) == (True, kept.size_bytes)
    assert len(envelope(cast("ToolSuccess", outcome)).encode()) < 2_100
    assert isinstance(outcome, Excerpt)


async def test_where_the_store_has_no_files_the_model_is_told_the_artifacts_id(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", ROWS)
    store = memory_store()

    result = await result_of(tmp_path, store, call_id="a/b c/2-1")
    (kept,) = await store.list()

    assert f"artifacts/{result['artifact']}" == kept.key
    assert re.fullmatch(r"a_b_c\.[0-9a-f]{16}/2-1-[0-9a-f]{6}\.json", result["artifact"])
    assert len(await store.get(kept.key)) == result["bytes"] > 102_400


async def test_an_answer_within_the_limit_is_given_as_it_is(tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "x", ROWS, limits={"result": MAX_ANSWER_BYTES})
    store = memory_store()

    result = await result_of(tmp_path, store)

    assert (len(result["rows"]), await store.list()) == (20_000, ())


@pytest.mark.parametrize(
    ("store", "grace_seconds", "reason"),
    [
        pytest.param(
            BrokenStore(),
            3,
            "the store s3://bucket cannot be written to: it is broken",
            id="a broken store",
        ),
        pytest.param(
            BrokenStore(hangs=True), -19.5, "the store took too long", id="a store that never answers"
        ),
    ],
)
async def test_a_store_that_fails_costs_the_rest_of_an_answer_and_not_the_call(
    tmp_path: Path, store: Store, grace_seconds: float, reason: str
) -> None:
    write_tool(tmp_path / "tools", "x", ROWS)

    large = await result_of(tmp_path, store, grace_seconds=grace_seconds)
    left = await result_of(
        tmp_path, store, tool="bash", params={"command": "seq 9999"}, grace_seconds=grace_seconds
    )

    assert large["note"] == left["stdout_artifact"] == f"The rest could not be kept: {reason}"
    assert large["text"].startswith('{"rows": ["row 0", ')
    assert left["stdout"].startswith("1\n2\n")


async def test_whatever_bash_truncates_is_kept_byte_for_byte(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    command = "seq 9999; printf '\\377'; seq 3000 >&2"

    result = await result_of(tmp_path, store, tool="bash", params={"command": command})
    names = sorted(re.sub(r"-[0-9a-f]{6}\.", "-R.", one.key) for one in await store.list())

    assert names == ["artifacts/run-1/2-1-R.stderr.txt", "artifacts/run-1/2-1-R.stdout.txt"]
    numbers = "".join(f"{number}\n" for number in range(1, 10_000)).encode()
    assert content(result["stdout_artifact"]) == numbers + b"\xff"
    assert content(result["stderr_artifact"]) == numbers[: numbers.index(b"3001\n")]


async def test_bash_reads_an_artifact_back_by_its_path(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    first = await result_of(tmp_path, store, tool="bash", params={"command": "seq 9999"})

    again = await result_of(
        tmp_path, store, tool="bash", params={"command": f"tail -n 2 {first['stdout_artifact']}"}
    )

    assert again == {"stdout": "9998\n9999\n", "stderr": "", "exit_code": 0, "truncated": False}


async def test_where_the_store_has_no_files_a_tool_reads_by_the_id_without_its_credentials(
    tmp_path: Path,
) -> None:
    with s3_server("bucket") as server:
        store = open_store(Settings(store="s3://bucket/ours"), server.environment())
        first = await result_of(tmp_path, store, tool="bash", params={"command": "seq 9999"})
        command = f"{SUREFOOT} artifacts get {first['stdout_artifact']} | tail -n 2; env | grep AWS"
        again = await result_of(tmp_path, store, tool="bash", params={"command": command})

    # That grep finds nothing is its exit code 1.
    assert again == {"stdout": "9998\n9999\n", "stderr": "", "exit_code": 1, "truncated": False}


async def test_output_above_what_a_file_may_hold_is_said_to_be_cut_in_the_file(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")

    result = await result_of(
        tmp_path, store, tool="bash", params={"command": "head -c 20000000 /dev/zero | tr '\\0' a"}
    )
    kept = content(result["stdout_artifact"])

    assert kept == b"a" * 2**24 + b"\n[ARTIFACT TRUNCATED - exceeded 16MB limit]\n"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            "ln -s /etc/passwd $SUREFOOT_ARTIFACTS/it",
            LOST + "Too many levels of symbolic links",
            id="a link",
        ),
        pytest.param(
            "mkfifo $SUREFOOT_ARTIFACTS/it",
            LOST + "it is no plain file",
            id="a pipe",
        ),
        pytest.param(
            "truncate -s 33M $SUREFOOT_ARTIFACTS/it",
            LOST + "it is larger than 32MB",
            id="a huge file",
        ),
        pytest.param("true", "it", id="no such file"),
        pytest.param("mkdir $SUREFOOT_ARTIFACTS/it", LOST + "Is a directory", id="a directory"),
    ],
)
async def test_what_is_no_file_of_the_call_is_not_kept(tmp_path: Path, script: str, expected: str) -> None:
    write_tool(tmp_path / "tools", "x", f'{SHELL}{script}; echo \'{{"my_artifact": "it", "it": "it"}}\'')
    store = memory_store()

    result = await result_of(tmp_path, store)

    assert (result, await store.list()) == ({"my_artifact": expected, "it": "it"}, ())


@pytest.mark.parametrize("name", ["a" * 81, "a/b", "..", ".store", "a b", "-a"])
async def test_a_name_that_a_file_cannot_have_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    answer = f'echo \'{{"my_artifact": "{name}"}}\''
    script = f'cd $SUREFOOT_ARTIFACTS; mkdir a; echo 1 | tee -- "{name}" > it; {answer}'
    write_tool(tmp_path / "tools", "x", SHELL + script)
    store = memory_store()

    assert (await result_of(tmp_path, store), await store.list()) == ({"my_artifact": name}, ())


async def test_any_tool_can_leave_a_file_and_name_it_in_its_answer(tmp_path: Path) -> None:
    script = 'cp "$0" $SUREFOOT_ARTIFACTS/plot.png; echo "{\\"plot_artifact\\": \\"plot.png\\"}"'
    write_tool(tmp_path / "tools", "x", SHELL + script)
    store = memory_store()

    result = await result_of(tmp_path, store)

    assert re.fullmatch(r"run-1/2-1-[0-9a-f]{6}\.plot\.png", result["plot_artifact"])
    assert script in (await store.get(f"artifacts/{result['plot_artifact']}")).decode()


async def test_nothing_that_a_tool_leaves_stays_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    write_tool(tmp_path / "tools", "x", SHELL + "echo 1 > $SUREFOOT_ARTIFACTS/a; sleep 60")

    timed_out = await run(tmp_path, memory_store(), seconds=0.3)

    assert isinstance(timed_out, ToolFailure)
    assert list(scratch.iterdir()) == []


async def test_a_call_goes_on_where_nothing_can_be_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    write_tool(tmp_path / "tools", "x", SHELL + 'echo "{\\"directory\\": \\"$SUREFOOT_ARTIFACTS\\"}"')

    assert await result_of(tmp_path, memory_store()) == {"directory": ""}
