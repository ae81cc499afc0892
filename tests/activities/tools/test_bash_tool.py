import asyncio
import json
from pathlib import Path
from typing import cast

import pytest
from pydantic import JsonValue

from activities.tools.executable import Exited, TimedOut
from activities.tools.sources import BUILTIN_DIRECTORY
from surefoot.definition import Manifest
from surefoot.schema import problems
from surefoot.truncation import truncate
from tests.activities.tools.tool_run import ToolRun, is_alive, until

BUILTIN = BUILTIN_DIRECTORY
MANIFEST = Manifest.model_validate_json((BUILTIN / "bash.tool.json").read_text())

Answer = dict[str, JsonValue]


async def ask(run: ToolRun, command: str, **params: JsonValue) -> Answer:
    """Give the answer to a valid call; it fits the manifest."""
    ending = await run(BUILTIN / "bash", json.dumps({"command": command, **params}))
    answer = run.captures.stdout.whole()
    assert (ending, run.stderr, answer is not None) == (Exited(0), "", True)
    parsed = cast(Answer, json.loads(answer or b""))
    assert problems(MANIFEST.output_schema or {}, parsed) == ()
    return parsed


def result(stdout: str = "", stderr: str = "", exit_code: int = 0, **more: JsonValue) -> Answer:
    return {"stdout": stdout, "stderr": stderr, "exit_code": exit_code, "truncated": False, **more}


@pytest.fixture
def run(tmp_path: Path) -> ToolRun:
    """A run whose directory holds a few C sources."""
    sources = tmp_path / "src"
    sources.mkdir()
    (sources / "main.c").write_text("// TODO: Add error handling\n")
    (sources / "db.c").write_text("// TODO: Implement connection pooling\n// TODO: Add retry logic\n")
    return ToolRun(tmp_path)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        pytest.param("ls src/", result("db.c\nmain.c\n"), id="the files of a directory"),
        pytest.param(
            "LC_ALL=C cat config.json",
            result("", "cat: config.json: No such file or directory\n", 1),
            id="a file that is not there",
        ),
        pytest.param("grep -r 'TODO' src/ --include='*.c' | wc -l", result("3\n"), id="a count"),
        pytest.param("grep TODO nowhere.d/* 2>/dev/null || true", result(), id="a failure that is accepted"),
        pytest.param("cat; echo end", result("end\n"), id="an empty stdin"),
        pytest.param("printf 'a\\377\\0\\342\\202'", result("a\ufffd\0\ufffd"), id="output that is not text"),
        pytest.param("echo é; echo ü >&2", result("é\n", "ü\n"), id="letters outside ASCII"),
        pytest.param("exit 124", result(exit_code=124), id="the exit code of a timeout"),
        pytest.param("kill -SEGV $$", result(exit_code=139), id="bash killed by a signal"),
        pytest.param("echo on; kill 0", result("on\n", exit_code=143), id="its own group told to stop"),
        pytest.param("exec >&- 2>&-; exit 3", result(exit_code=3), id="closed outputs"),
        pytest.param("yes | head -1", result("y\n"), id="a broken pipe"),
    ],
)
async def test_a_command_answers_with_its_output_and_its_exit_code(
    run: ToolRun, command: str, answer: Answer
) -> None:
    assert await ask(run, command) == answer


async def test_a_command_runs_in_the_directory_it_names(run: ToolRun) -> None:
    assert await ask(run, "ls; basename $PWD", working_dir="src") == result("db.c\nmain.c\nsrc\n")


@pytest.mark.parametrize(
    ("working_dir", "reason"),
    [
        pytest.param("gone", "No such file or directory", id="missing"),
        pytest.param("src/main.c", "Not a directory", id="a file"),
        pytest.param("é", "No such file or directory", id="outside ASCII"),
    ],
)
async def test_a_directory_that_cannot_be_entered_is_an_error_of_the_answer(
    run: ToolRun, working_dir: str, reason: str
) -> None:
    error = f"Working directory '{working_dir}' cannot be entered: {reason}"
    assert await ask(run, "ls", working_dir=working_dir) == result(exit_code=1, error=error)


async def test_a_command_that_no_process_can_take_is_an_error_of_the_answer(run: ToolRun) -> None:
    error = "The command could not be started: embedded null byte"
    assert await ask(run, "echo \0") == result(exit_code=1, error=error)


@pytest.mark.parametrize(
    "output",
    [
        pytest.param(b"x" * 10_240, id="at the limit"),
        pytest.param(b"x" * 10_241, id="a byte too much"),
        pytest.param("€".encode() * 5_000, id="characters of three bytes"),
        pytest.param(b"\xff" * 3_414, id="over the limit as text alone"),
        pytest.param(b"line\n" * 200_000 + b"\xe2\x82", id="a million bytes"),
    ],
)
async def test_large_output_is_truncated_as_everywhere(run: ToolRun, output: bytes) -> None:
    (run.directory / "output").write_bytes(output)
    stdout, stdout_cut = truncate(output.decode(errors="replace"), 10_240)
    stderr, stderr_cut = truncate(output.decode(errors="replace"), 4_096)
    assert await ask(run, "cat output; cat output >&2") == {
        "stdout": stdout,
        "stderr": stderr,
        "exit_code": 0,
        "truncated": stdout_cut or stderr_cut,
    }


async def test_unlimited_output_takes_little_memory(run: ToolRun) -> None:
    limited = run.tool(f"#!/bin/sh\nulimit -v 100000\nexec '{BUILTIN / 'bash'}' \"$@\"\n")
    ending = await run(limited, json.dumps({"command": "yes | head -c 200000000"}))
    answer = json.loads(run.captures.stdout.whole() or b"{}")
    head, _, left_out = answer["stdout"].partition("\n... [")
    shown = len(head) + int(left_out.split()[0].replace(",", ""))
    assert (ending, shown) == (Exited(0), 200_000_000)


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        pytest.param("echo item 1; sleep 300; echo item 2", "item 1\n", id="waiting for a child"),
        pytest.param(
            "trap '' TERM; echo item 1; while :; do sleep 300; done", "item 1\n", id="ignoring SIGTERM"
        ),
        pytest.param("trap 'echo bye; exit 0' TERM; sleep 300 & wait", "bye\n", id="with last words"),
    ],
)
async def test_a_command_past_its_timeout_answers_with_what_it_had(
    run: ToolRun, command: str, stdout: str
) -> None:
    expected = result(stdout, exit_code=124, error="Command timed out after 1s")
    assert await ask(run, command, timeout=1) == expected


async def test_no_child_of_a_command_past_its_timeout_survives(run: ToolRun) -> None:
    answer = await ask(run, "trap '' TERM; sleep 300 & echo $!; cat <(sleep 300)", timeout=1)
    await until(lambda: not is_alive(int(str(answer["stdout"]))))


async def test_what_a_command_leaves_in_the_background_delays_nothing_and_is_killed(run: ToolRun) -> None:
    answer = await ask(run, "sleep 300 & echo $!", timeout=20)
    pid = int(str(answer["stdout"]))
    await until(lambda: not is_alive(pid))
    assert answer == result(f"{pid}\n")


async def test_a_daemon_that_floods_the_pipe_delays_nothing(run: ToolRun) -> None:
    answer = await ask(run, "setsid yes & echo $! >&2; exit 7", timeout=20)
    assert not is_alive(int(str(answer["stderr"])))
    assert answer["exit_code"] == 7


async def test_a_command_killed_by_the_runtime_leaves_its_partial_output(run: ToolRun) -> None:
    params = json.dumps({"command": "echo item 1; sleep 300"})
    ending = await run(BUILTIN / "bash", params, seconds=1.5)
    assert (ending, json.loads(run.stdout)) == (TimedOut(), result("item 1\n", exit_code=143))


@pytest.mark.parametrize(
    ("directory", "command", "kept"),
    [
        pytest.param("/nowhere", "seq 9999", "No such file or directory", id="no directory"),
        pytest.param("/proc/self/fdinfo", "seq 9999", "No such file or directory", id="one for no files"),
    ],
)
async def test_output_that_cannot_be_kept_whole_is_said_to_be_lost(
    run: ToolRun, directory: str, command: str, kept: str
) -> None:
    run.environment["SUREFOOT_ARTIFACTS"] = directory

    answer = await ask(run, command)

    assert answer["truncated"] is True
    assert answer["stdout_artifact"] == f"The rest could not be kept: {kept}"


async def test_without_a_directory_to_keep_it_in_the_rest_of_the_output_is_gone(run: ToolRun) -> None:
    assert (await ask(run, "seq 9999")).keys() == {"stdout", "stderr", "exit_code", "truncated"}


@pytest.mark.parametrize("size", [100_000, 102_500, 1_000_000])
async def test_a_command_of_any_size_runs(run: ToolRun, size: int) -> None:
    command = f"wc -c <<'END'\n{'é' * (size // 2)}\nEND\necho $# \"$0\"; exit 9"
    assert await ask(run, command) == result(f"{size + 1}\n0 bash\n", exit_code=9)


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        pytest.param("{", "Expecting property name", id="half a JSON object"),
        pytest.param("[]", "its params are a JSON object", id="a list"),
        pytest.param("{}", "'command' is required and is text", id="no command"),
        pytest.param('{"command": 1}', "'command' is required and is text", id="a command that is a number"),
        pytest.param('{"command": "ls", "cwd": "/"}', "unknown params: cwd", id="an unknown param"),
        pytest.param('{"command": "ls", "timeout": 0}', "'timeout' is a whole number", id="no time at all"),
        pytest.param('{"command": "ls", "timeout": 1.5}', "'timeout' is a whole number", id="half seconds"),
        pytest.param('{"command": "ls", "timeout": true}', "'timeout' is a whole number", id="a truth value"),
        pytest.param('{"command": "ls", "working_dir": 1}', "'working_dir' is text", id="no directory"),
    ],
)
async def test_params_that_cannot_be_used_are_a_crash_that_says_why(
    run: ToolRun, params: str, complaint: str
) -> None:
    ending = await run(BUILTIN / "bash", params)
    assert (ending, run.stdout, complaint in run.stderr) == (Exited(2), "", True)


async def test_a_whole_number_may_be_written_with_a_point(run: ToolRun) -> None:
    assert await ask(run, "echo ok", timeout=30.0) == result("ok\n")


@pytest.mark.parametrize("variable", ["LC_ALL=C", "LC_ALL=POSIX", "LANG=en_US.ISO-8859-1"])
async def test_text_is_utf_8_in_every_locale(run: ToolRun, variable: str) -> None:
    run.environment |= dict([variable.split("=", 1)])
    (run.directory / "é").mkdir()
    assert await ask(run, "echo ü; basename $PWD", working_dir="é") == result("ü\né\n")


def test_the_manifest_says_that_nothing_stays_in_the_background() -> None:
    assert "background is killed when the call ends" in (MANIFEST.usage or "")


def test_a_call_may_set_its_own_limit_and_the_runtime_waits_longer() -> None:
    assert MANIFEST.timeout_for({"timeout": 600}).total_seconds() > 600 + 1.5


async def test_started_by_hand_it_stops_nothing_but_its_command() -> None:
    process = await asyncio.create_subprocess_exec(
        str(BUILTIN / "bash"), '{"command": "exec sleep 300", "timeout": 1}', stdout=asyncio.subprocess.PIPE
    )
    stdout, _ = await process.communicate()
    assert (process.returncode, json.loads(stdout)["exit_code"]) == (0, 124)
