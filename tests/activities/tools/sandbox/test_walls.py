"""What an executable sees and reaches at each level, and that it ends as it would without walls."""

import asyncio
import os
import socket
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from pydantic import JsonValue

from activities.interface import ToolCallInput
from activities.store.directory import DirectoryStore
from activities.tools.artifacts import Artifacts
from activities.tools.sandbox.level import Level
from activities.tools.sources import BUILTINS
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.strict_json import encode_json
from tests.activities.tools.disk_tools import PYTHON, write_tool
from tests.activities.tools.sandbox.walled import ANSWER, Place, at
from tests.activities.tools.tool_run import TAG, tagged, until

DONE = ToolSuccess(tool="tool", result="done")

CONNECT = """import socket, sys
socket.create_connection(("127.0.0.1", {port}), 5).close()
print('"done"')
"""


@pytest.fixture
def place(tmp_path: Path, level: Level) -> Place:
    return Place(tmp_path, level)


@pytest.fixture
def port() -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@at("bwrap", "landlock")
async def test_the_home_is_hidden(place: Place) -> None:
    (place.home / "key").write_text("sk-1")
    assert "key" in await place.stderr_of(f"cat {place.home}/key")


@at("bwrap", "landlock")
async def test_a_tool_has_a_home_all_the_same(place: Place) -> None:
    outcome = await place.call(f'echo 1 > "$HOME/settings" && {ANSWER}')
    assert (outcome, list(place.home.iterdir())) == (DONE, [])


@at("bwrap", "landlock")
async def test_what_lies_beside_the_working_directory_is_not_read(place: Place) -> None:
    (place.root / "other").write_text("theirs")
    (place.work / "link").symlink_to("../other")
    assert "other" in await place.stderr_of("cat ../other")
    assert "link" in await place.stderr_of("cat link")


@at("bwrap", "landlock")
async def test_what_lies_beside_the_working_directory_is_not_written(place: Place) -> None:
    other = place.root / "other"
    other.write_text("theirs")
    await place.call(f"echo ours > {other}; rm -f {other}; echo 1 > {place.root}/new\n{ANSWER}")
    assert (other.read_text(), (place.root / "new").exists()) == ("theirs", False)


@at("bwrap", "landlock")
async def test_what_is_written_in_the_working_directory_stays(place: Place) -> None:
    outcome = await place.call(f"mkdir made && echo 1 > made/file && mv made kept && {ANSWER}")
    assert (outcome, (place.work / "kept/file").read_text()) == (DONE, "1\n")


@at("bwrap", "landlock")
async def test_a_tool_has_a_place_for_temporary_files_of_its_own(place: Place) -> None:
    place.environment["TMPDIR"] = str(place.root)
    outcome = await place.call(f'mktemp > /dev/null && echo 1 > "$TMPDIR/mine" && {ANSWER}')
    assert (outcome, (place.root / "mine").exists()) == (DONE, False)


@at("bwrap", "landlock")
async def test_passwords_are_no_part_of_what_is_seen_of_the_system(place: Place) -> None:
    outcome = await place.call(f"cat /etc/passwd > /dev/null && cat /etc/shadow && exit 9\n{ANSWER}")
    assert outcome == DONE


@at("bwrap", "landlock")
@pytest.mark.parametrize(
    ("network", "hint", "reached"),
    [
        pytest.param(None, None, False, id="no word of it"),
        pytest.param(None, True, True, id="the tool's hint"),
        pytest.param(False, True, False, id="the run's word against the hint"),
        pytest.param(True, False, True, id="the run's word for it"),
    ],
)
async def test_the_network_is_off_unless_somebody_says_on(
    place: Place, port: int, network: bool | None, hint: bool | None, reached: bool
) -> None:
    script = PYTHON + CONNECT.format(port=port)
    outcome = await place.call(script, network=network, annotations={"openWorldHint": hint})
    assert (outcome == DONE) == reached


@at("bwrap", "landlock")
async def test_a_program_of_the_home_that_is_on_the_path_runs(place: Place) -> None:
    programs = place.home / "app" / "bin"
    programs.mkdir(parents=True)
    (place.home / "app" / "secret").write_text("theirs")
    (place.home / "app" / "lib").mkdir()
    (place.home / "app" / "lib" / "answer").write_text('"done"')
    (programs / "answer").write_text('#!/bin/sh\nexec cat "$(dirname "$0")/../lib/answer"\n')
    (programs / "answer").chmod(0o755)
    (place.home / "bin").mkdir()
    (place.home / "bin" / "linked").symlink_to(programs / "answer")
    place.environment["PATH"] = f"{programs}:{place.home / 'bin'}:{place.environment['PATH']}"
    assert await place.call("answer") == DONE
    assert await place.call("test -e $(command -v linked) && answer") == DONE
    assert "secret" in await place.stderr_of(f"cat {place.home}/app/secret")


@at("bwrap", "landlock")
async def test_an_interpreter_of_the_home_runs_a_tool(place: Place) -> None:
    (place.home / "env" / "bin").mkdir(parents=True)
    python = place.home / "env" / "bin" / "python"
    python.symlink_to(sys.executable)
    assert await place.call(f"#!{python} -IS\nprint('\"done\"')\n") == DONE


@at("bwrap", "landlock")
async def test_what_lies_beside_a_tool_is_read(place: Place) -> None:
    write_tool(place.root / "tools", "other", "")
    (place.root / "tools" / "words").write_text('"done"')
    assert await place.call('cat "$(dirname "$0")/words"') == DONE


@at("bwrap", "landlock")
async def test_a_tool_does_not_write_tools(place: Place) -> None:
    await place.call(f'echo 1 >> "$0"; echo 1 > "$(dirname "$0")/tool.tool.json"\n{ANSWER}')
    assert await place.call(ANSWER) == DONE


@at("bwrap")
@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param('echo 1 >> "$0"', id="writing"),
        pytest.param('rm -f "$0"', id="removing"),
        pytest.param("mv a/tools a/old", id="renaming the directory"),
        pytest.param("mv a b && mkdir -p a/tools && cp b/tools/* a/tools", id="renaming what it lies in"),
        pytest.param("rm -rf a", id="removing what it lies in"),
    ],
)
async def test_a_tool_in_the_working_directory_is_not_written_either(place: Place, attempt: str) -> None:
    tools = place.work / "a" / "tools"
    tools.parent.mkdir()
    script = f"{attempt} 2> /dev/null\n{ANSWER}"
    assert await place.call(script, tools=tools) == DONE
    assert (tools / "tool").read_text() == f"#!/bin/sh\n{script}\n"


@at("bwrap")
async def test_what_is_hidden_is_hidden_in_the_working_directory_too(place: Place) -> None:
    state = place.work / "state"
    state.mkdir()
    (state / "database").write_text("everything")
    (place.work / "keys").write_text("sk-1")
    place.hidden = (state, place.work / "keys")
    assert "database" in await place.stderr_of("cat state/database")
    assert await place.call(f'[ -z "$(cat keys 2> /dev/null)" ] && {ANSWER}') == DONE
    assert (state / "database").read_text() == "everything"


@at("bwrap", "landlock")
async def test_what_is_named_as_visible_is_read(place: Place) -> None:
    (place.home / "words").write_text('"done"')
    place.visible = (place.home / "words",)
    assert await place.call(f"cat {place.home}/words") == DONE


@at("bwrap", "landlock")
async def test_a_tool_reads_the_artifacts_of_its_own_run_alone(place: Place) -> None:
    store = DirectoryStore(place.root / "store")
    place.artifacts, place.hidden = Artifacts(store), (store.directory,)
    for run in (place.run, "another"):
        await store.put(f"artifacts/{run}/1-1-abcdef.json", b'"done"')
    file = place.root / "store/artifacts/{}/1-1-abcdef.json"
    assert await place.call(f"cat {file}".format(place.run)) == DONE
    assert isinstance(await place.call(f"cat {file}".format("another")), ToolFailure)


@at("bwrap", "landlock")
async def test_a_tool_leaves_artifacts(place: Place) -> None:
    place.artifacts = Artifacts(DirectoryStore(place.root / "store"))
    await place.call('echo 1 > "$SUREFOOT_ARTIFACTS/words.txt"; echo \'{"words_artifact": "words.txt"}\'')
    assert [kept.read_text() for kept in (place.root / "store").rglob("*.words.txt")] == ["1\n"]


@at("bwrap", "landlock")
async def test_a_link_to_the_working_directory_leads_there(place: Place) -> None:
    place.work.rmdir()
    (place.root / "real").mkdir()
    place.work.symlink_to("real")
    outcome = await place.call(f"echo 1 > {place.work}/file && {ANSWER}")
    assert (outcome, (place.root / "real/file").exists()) == (DONE, True)


@at("bwrap", "landlock", "none")
@pytest.mark.parametrize(
    ("script", "error_code", "exit_code"),
    [
        pytest.param("exit 3", "TOOL_CRASHED", 3, id="an exit code"),
        pytest.param("kill -SEGV $$", "TOOL_CRASHED", 139, id="a signal"),
        pytest.param("#!/nowhere\n", "TOOL_CRASHED", 127, id="no interpreter"),
        pytest.param("#!/etc/passwd\n", "TOOL_CRASHED", 126, id="an interpreter that cannot be started"),
        pytest.param("echo half; sleep 300", "TOOL_TIMEOUT", None, id="too long"),
    ],
)
async def test_a_call_ends_as_it_does_without_walls(
    place: Place, script: str, error_code: str, exit_code: int | None
) -> None:
    outcome = await place.call(script, seconds=1)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.exit_code, outcome.stderr) == (error_code, exit_code, "")


@at("bwrap", "landlock", "none")
async def test_large_params_are_read_from_stdin(place: Place) -> None:
    write_tool(place.root / "tools", "tool", '#!/bin/sh\n[ "$1" = - ] && cat\n')
    params: dict[str, JsonValue] = {"text": "x" * 200_000}
    call = ToolCallInput(tool="tool", params=params, call_id=place.call_id, timeout_seconds=20)
    assert await place.executor().run(call) == ToolSuccess(tool="tool", result=params)
    assert len(encode_json(params)) > 131_071


@at("bwrap", "landlock", "none")
async def test_nothing_survives_a_cancellation(place: Place) -> None:
    tag = os.urandom(8).hex()
    script = f"export {TAG}={tag}; setsid sleep 300 & (sleep 300 &) ; sleep 300"
    task = asyncio.create_task(place.call(script))
    await until(lambda: len(tagged(tag)) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tagged(tag) == []


@at("bwrap")
async def test_a_sandbox_that_cannot_be_set_up_is_told_of(place: Place) -> None:
    # No directory can be made there.
    place.environment["HOME"] = "/proc/nowhere"
    outcome = await place.call(ANSWER)
    assert isinstance(outcome, ToolFailure)
    told = "Tool 'tool' could not be started: its sandbox could not be set up: bwrap: "
    assert (outcome.exit_code, outcome.error[: len(told)]) == (126, told)


@at("bwrap")
async def test_only_a_bwrap_of_the_system_is_started(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = place.work / "bin" / "bwrap"
    planted.parent.mkdir()
    planted.write_text("#!/bin/sh\necho bwrap: planted >&2\nexit 1\n")
    planted.chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted.parent}:{os.environ['PATH']}")
    assert await place.call(ANSWER) == ToolSuccess(tool="tool", result="done")


@at("bwrap", "landlock", "none")
async def test_the_file_tools_that_come_with_surefoot_run(place: Place) -> None:
    (place.work / "file").write_text("word\n")
    params: dict[str, JsonValue] = {"path": "file"}
    call = ToolCallInput(tool="read_file", params=params, call_id=place.call_id, timeout_seconds=20)
    assert isinstance(await place.executor(BUILTINS["builtin:files"]).run(call), ToolSuccess)
