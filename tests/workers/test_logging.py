import asyncio
import io
import json
import logging
import os
import pty
import re
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import structlog
from temporalio.client import Client
from temporalio.exceptions import ApplicationError

from activities.interface import LlmTurnResult
from surefoot.conversation import Message
from tests.activities.tools.disk_tools import SHELL, WAIT_FOR_GO, write_tool
from tests.activities.tools.tool_run import is_alive, until
from tests.workers.real_workers import WorkerProcess, new_queue, pid_in, worker_of
from tests.workflows.agents import Replies, calls, events_of, says, start
from workers.log_place import say_where
from workers.logging import configure_logging


@pytest.fixture(autouse=True)
def root() -> Generator[logging.Logger]:
    """Logging as this process had it."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    yield logger
    logger.handlers[:], logger.level = handlers, level
    structlog.reset_defaults()


def log_failure(error: Exception) -> None:
    try:
        raise error
    except (ApplicationError, KeyError):
        logging.getLogger("temporalio.activity").warning("Completing activity as failed", exc_info=True)


def logged(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_model_in_trouble_is_one_line_without_a_traceback() -> None:
    stream = io.StringIO()
    configure_logging(stream=stream)

    log_failure(ApplicationError("overloaded", type="MODEL_UNAVAILABLE"))

    (line,) = logged(stream)
    assert line.pop("time")
    assert line == {
        "event": "Completing activity as failed: overloaded",
        "level": "warning",
        "logger": "temporalio.activity",
    }


def test_whoever_only_wants_warnings_is_not_told_what_the_run_tells() -> None:
    stream = io.StringIO()
    configure_logging(logging.WARNING, stream=stream)

    log_failure(ApplicationError("overloaded", type="MODEL_UNAVAILABLE"))

    assert logged(stream) == []


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(KeyError("a"), id="a bug of ours"),
        pytest.param(ApplicationError("odd", type="SOMETHING"), id="an error of a type that nobody foresaw"),
    ],
)
def test_what_nobody_foresaw_is_logged_with_its_traceback(error: Exception) -> None:
    stream = io.StringIO()
    configure_logging(logging.WARNING, stream=stream)

    log_failure(error)

    assert "Traceback" in logged(stream)[0]["exception"]


def test_a_log_goes_to_what_stderr_is_at_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    configure_logging()
    later = io.StringIO()
    monkeypatch.setattr(sys, "stderr", later)

    logging.getLogger("any").warning("here")

    assert logged(later)[0]["event"] == "here"


async def test_a_run_is_logged_with_what_each_line_is_about_and_once_whoever_replays_it(
    client: Client, tmp_path: Path
) -> None:
    stream = io.StringIO()
    configure_logging(stream=stream)
    write_tool(tmp_path / "tools", "x", SHELL + "exit 3")
    write_tool(tmp_path / "tools", "y", f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1")
    model, queue = Replies([calls(("x", {})), calls(("y", {})), says("Done.")]), new_queue()

    async with asyncio.timeout(30):
        async with worker_of(client, tmp_path, model, queue=queue) as first:
            run = await start(client, queue)
            await pid_in(tmp_path / "pid")
            leaving = asyncio.create_task(first.shutdown())
            (tmp_path / "go").touch()
            await leaving
        async with worker_of(client, tmp_path, model, queue=queue):
            await run.result()
        async with worker_of(client, tmp_path, model, queue=queue):
            await events_of(run)

    about = {"level": "info", "logger": "temporalio.workflow", "workflow_id": run.id, "attempt": 1}
    about |= {"run_id": run.first_execution_run_id, "task_queue": queue}
    failure = {"error_code": "TOOL_CRASHED", "exit_code": 3, "turn": 1}
    told = [line for line in logged(stream) if line["logger"] == "temporalio.workflow"]
    assert all(line.pop("time") for line in told)
    assert told == [
        {"event": "run started", **about},
        {"event": "tool execution failed", **about, "tool": "x", "tool_exec_id": "1-1", **failure},
        {"event": "run finished", **about, "status": "completed", "turn": 3},
    ]


async def test_a_bug_in_an_activity_is_logged_with_its_traceback_and_its_place(
    client: Client, tmp_path: Path
) -> None:
    stream = io.StringIO()
    configure_logging(stream=stream)
    (tmp_path / "tools").mkdir()
    model, queue = Replies([KeyError("a"), says("Done.")]), new_queue()

    async with asyncio.timeout(20), worker_of(client, tmp_path, model, queue=queue):
        run = await start(client, queue)
        await run.result()

    (line,) = [line for line in logged(stream) if line["logger"] == "temporalio.activity"]
    assert line.pop("exception").endswith("KeyError: 'a'")
    assert line.pop("time")
    assert line == {
        "event": "Completing activity as failed",
        "level": "warning",
        "logger": "temporalio.activity",
        "workflow_id": run.id,
        "run_id": run.first_execution_run_id,
        "task_queue": queue,
        "activity_type": "llm_turn",
        "activity_id": "turn-1",
        "turn": 1,
        "attempt": 1,
    }


class Talkative(Replies):
    """A model whose library logs, from a thread, too."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        logging.getLogger("library").info("asked")
        await asyncio.to_thread(logging.getLogger("library").info, "asked in a thread")
        return await super().reply(messages, closing=closing)


async def test_whatever_is_logged_in_an_activity_says_of_which_turn_it_is(
    client: Client, tmp_path: Path
) -> None:
    stream = io.StringIO()
    configure_logging(stream=stream)
    (tmp_path / "tools").mkdir()
    queue = new_queue()

    async with (
        asyncio.timeout(20),
        worker_of(client, tmp_path, Talkative([calls(("made_up", {})), says("Done.")]), queue=queue),
    ):
        run = await start(client, queue)
        await run.result()

    told = [line for line in logged(stream) if line["logger"] == "library"]
    assert [(line["event"], line["turn"], line["activity_id"]) for line in told] == [
        ("asked", 1, "turn-1"),
        ("asked in a thread", 1, "turn-1"),
        ("asked", 2, "turn-2"),
        ("asked in a thread", 2, "turn-2"),
    ]
    assert {(line["workflow_id"], line["run_id"]) for line in told} == {(run.id, run.first_execution_run_id)}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({"activity_id": "7-2"}, {"turn": 7, "tool_exec_id": "7-2"}, id="a tool call"),
        pytest.param({"activity_id": "turn-7-again-1"}, {"turn": 7}, id="a turn that is asked again"),
        pytest.param({"tool_exec_id": "7-2"}, {"turn": 7}, id="a line about a tool call"),
        pytest.param({"activity_id": "compact_context-0a1b2c3d"}, {}, id="an activity of no turn"),
        pytest.param({"activity_id": "7-2", "turn": 3}, {"tool_exec_id": "7-2"}, id="what was said stays"),
    ],
)
def test_a_line_names_the_turn_and_the_call_of_the_ids_in_it(
    said: dict[str, object], expected: dict[str, object]
) -> None:
    assert say_where(None, "info", dict(said)) == {**said, **expected}


async def test_a_worker_writes_nothing_but_json_lines_and_only_to_stderr(
    client: Client, tmp_path: Path
) -> None:
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; {WAIT_FOR_GO}; echo 1")
    (tmp_path / "script.yaml").write_text("steps:\n  - call: [{x: }]\n  - say: Done.\n")
    queue = new_queue()
    # The answer of a run that is gone is what the SDK's core complains of, unless a heartbeat comes first.
    seldom = {"SUREFOOT_HEARTBEAT_THROTTLE": "60"}

    async with asyncio.timeout(30):
        with WorkerProcess(client, tmp_path, queue=queue, variables=seldom) as worker:
            run = await start(client, queue, model=f"scripted:{tmp_path / 'script.yaml'}")
            await pid_in(tmp_path / "pid")
            await run.terminate()
            (tmp_path / "go").touch()
            while "temporalio.core" not in worker.log.read_text():  # noqa: ASYNC110  another process
                await asyncio.sleep(0.05)

    lines = [json.loads(line) for line in worker.log.read_text().splitlines()]
    assert {(line["logger"], line["level"]) for line in lines} == {
        ("temporalio.workflow", "info"),
        ("temporalio.core", "warning"),
    }
    assert worker.output.read_text() == ""


async def test_terminating_a_run_is_nobodys_failure(client: Client, tmp_path: Path) -> None:
    stream = io.StringIO()
    configure_logging(stream=stream)
    write_tool(tmp_path / "tools", "x", f"{SHELL}echo $$ > pid; exec sleep 60")
    model, queue = Replies([calls(("x", {}))]), new_queue()

    async with asyncio.timeout(20):
        async with worker_of(client, tmp_path, model, queue=queue):
            run = await start(client, queue)
            pid = await pid_in(tmp_path / "pid")
            await run.terminate()
            await until(lambda: not is_alive(pid))

    loggers = {"temporalio.workflow", "temporalio.activity"}
    assert [line["event"] for line in logged(stream) if line["logger"] in loggers] == ["run started"]


ON_A_TERMINAL = """
import logging
from workers.logging import configure_logging

configure_logging()
logging.getLogger("any").warning("here", extra={"task_queue": "q"})
try:
    key = "hunter" + "2"
    raise KeyError("a")
except KeyError:
    logging.getLogger("any").exception("there")
"""


def test_a_terminal_gets_coloured_lines_and_no_json() -> None:
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", ON_A_TERMINAL], stderr=theirs, timeout=30, check=True)
    os.close(theirs)
    shown = ""
    # Linux tells by an error that nobody has the other side open any more.
    with suppress(OSError):
        while part := os.read(ours, 65_536):
            shown += part.decode()
    os.close(ours)

    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert shown != plain
    assert not plain.startswith("{")
    assert re.search(r"^\S+Z \[warning *\] here +\[any\] task_queue=q\r\n", plain)
    assert re.search(r"\[error *\] there +\[any\]\r\n", plain)
    assert "KeyError: 'a'" in plain
    assert "hunter2" not in plain


def test_no_line_holds_a_secret_of_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUREFOOT_SECRET_KEY", 'canary-"7f3"')
    stream = io.StringIO()
    configure_logging(stream=stream)

    log_failure(KeyError('canary-"7f3"'))
    logging.getLogger("ours").warning("with %s", 'canary-"7f3"', extra={"field": 'canary-"7f3"'})

    first, second = logged(stream)
    assert ("canary" in stream.getvalue(), "KeyError: '[secret KEY]'" in first["exception"]) == (False, True)
    assert (second["event"], second["field"]) == ("with [secret KEY]", "[secret KEY]")
