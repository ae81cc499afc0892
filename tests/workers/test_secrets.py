"""Canaries: secrets that tools print wherever they can, and everything that is written of it."""

import io
import json
import logging
import os
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from google.protobuf.message import Message as Protobuf
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowHandle

from surefoot.outcome import ToolFailure, ToolSuccess
from tests.activities.tools.disk_tools import PYTHON, found, write_tool
from tests.workers.real_workers import new_queue, until_running
from tests.workflows.agents import Replies, calls, finish, says, start
from workers.logging import configure_logging
from workers.settings import Settings
from workers.worker import build_worker

CANARIES = {
    "TOKEN": "ghp_canary0123456789abcdef",
    "QUOTED": 'canary "with" \\ and / ü',
    "PIN": "98765432101",
    "KEY": "-----BEGIN PRIVATE KEY-----\ncanaryAAAABBBBCCCCDDDDEEEE\n-----END PRIVATE KEY-----",
    "db.password": "canary-p@ss",
}

ECHO = (
    PYTHON
    + """
import base64, json, os, sys, time
given = json.loads(sys.stdin.read() if sys.argv[1] == "-" else sys.argv[1])
texts = [*given.values(), os.environ["KEY"]]
got = [given, os.environ["KEY"], sys.argv[1]]
open(os.path.basename(sys.argv[0]) + ".got", "w").write(json.dumps(got))
for text in texts:
    encoded = base64.b64encode(b"x" + text.encode()).decode()
    print(text, encoded, json.dumps(text), file=sys.stderr, flush=True)
"""
)
ANSWERS = (
    ECHO
    + """
open(os.environ["SUREFOOT_ARTIFACTS"] + "/all.txt", "w").write(" ".join(texts))
print(json.dumps({"texts": texts, "given": given, "pin": int(given["pin"]), "all_artifact": "all.txt"}))
"""
)
FAILS = (
    ECHO
    + """
print(json.dumps(texts), flush=True)
while not os.path.exists("go"):
    time.sleep(0.02)
sys.exit(3)
"""
)
FUNCTION = '''
from surefoot import tool

@tool(secrets=["TOKEN"])
def raises(token: str) -> dict:
    """Raise it."""
    raise RuntimeError("refused: " + token)
'''


@pytest.fixture
def variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Where the secrets are, as this process and its workers are told."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "db.password").write_text(CANARIES["db.password"])
    variables = {f"SUREFOOT_SECRET_{name}": value for name, value in CANARIES.items() if "." not in name}
    variables["SUREFOOT_SECRETS"] = str(tmp_path / "secrets")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


@pytest.fixture
def log(variables: dict[str, str]) -> Generator[io.StringIO]:
    """Everything that this process logs, as a worker's process does."""
    logger = logging.getLogger()
    handlers, level = logger.handlers[:], logger.level
    stream = io.StringIO()
    configure_logging(logging.INFO, stream=stream)
    yield stream
    logger.handlers[:], logger.level = handlers, level
    structlog.reset_defaults()


def write_tools(directory: Path) -> None:
    given: dict[str, Any] = {"secrets": [*CANARIES], "environment": {"KEY": "secret://KEY"}}
    write_tool(directory, "answers", ANSWERS, **given)
    write_tool(directory, "fails", FAILS, **given)
    (directory / "functions.py").write_text(FUNCTION)


async def test_nothing_that_is_written_of_a_run_holds_a_secret_that_its_tools_were_given(
    client: Client, tmp_path: Path, variables: dict[str, str], log: io.StringIO
) -> None:
    write_tools(tmp_path / "tools")
    params: dict[str, Any] = {
        "token": "Bearer secret://TOKEN",
        "url": "postgres://me:secret://db.password@host/db",
        "quoted": "secret://QUOTED",
        "pin": "secret://PIN",
    }
    asked = calls(
        ("answers", params),
        ("fails", params),
        ("raises", {"token": "secret://TOKEN"}),
        ("raises", {"token": "secret://PIN"}),
    )
    queue, worker_settings = new_queue(), Settings(state_directory=tmp_path / "state")
    model = Replies([asked, says("Done.")])
    worker = build_worker(
        client,
        queue=queue,
        tools=found(tmp_path / "tools"),
        directory=tmp_path,
        environment={"PATH": os.environ["PATH"], **variables},
        open_model=lambda _turn, _attempt: model,
        settings=worker_settings,
    )
    async with worker:
        run = await start(client, queue)
        beat = await until_running(run, lambda one: one.captured is not None and "\n" in one.captured.stdout)
        (tmp_path / "go").touch()
        finished = await finish(run)

    given = {
        name: text.replace("secret://db.password", CANARIES["db.password"]) for name, text in params.items()
    }
    for name in ("TOKEN", "QUOTED", "PIN"):
        given = {key: text.replace(f"secret://{name}", CANARIES[name]) for key, text in given.items()}
    for tool in ("answers", "fails"):
        assert json.loads((tmp_path / f"{tool}.got").read_text()) == [given, CANARIES["KEY"], "-"]
    first, second, third, fourth = finished.outcomes
    assert isinstance(first, ToolSuccess)
    assert isinstance(second, ToolFailure)
    assert isinstance(first.result, dict)
    assert isinstance(fourth, ToolFailure)
    assert (fourth.error_code, fourth.error.endswith("the secrets that it is allowed: TOKEN")) == (
        "INVALID_PARAMS",
        True,
    )
    assert first.result["pin"] == "[secret PIN]"
    assert first.result["given"] == {
        "token": "Bearer [secret TOKEN]",
        "url": "postgres://me:[secret db.password]@host/db",
        "quoted": "[secret QUOTED]",
        "pin": "[secret PIN]",
    }
    assert (second.error_code, third.model_dump()["result"]["error"]) == (
        "TOOL_CRASHED",
        "RuntimeError: refused: [secret TOKEN]",
    )
    kept = [path.read_text(errors="replace") for path in (tmp_path / "state").rglob("*") if path.is_file()]
    written = {
        "history": "\n".join([text async for text in history_texts(run)]),
        "heartbeat": repr(beat),
        "log": log.getvalue(),
        "artifacts": "\n".join(kept),
    }
    assert [place for place, text in written.items() if "[secret TOKEN]" not in text] == []
    assert {place: held(text) for place, text in written.items()} == {place: [] for place in written}


def held(text: str) -> list[str]:
    """The canaries that a text holds, in whatever form: each has a word that no other text has."""
    forms = [text, text.replace("\\", "")]
    words = ("canary", "98765432101", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcn", "63616e617279")
    return [word for word in words if any(word in form for form in forms)]


async def history_texts(run: WorkflowHandle[Any, Any]) -> AsyncIterator[str]:
    history = await run.fetch_history()
    for event in history.events:
        yield str(event)
        for payload in payloads(event):
            yield payload.data.decode(errors="replace")


def payloads(message: Protobuf) -> Iterator[Payload]:
    """Every payload within a message, however deep."""
    if isinstance(message, Payload):
        yield message
        return
    fields: Any = message.ListFields()
    for field, value in fields:
        if field.message_type is not None:
            many = value.values() if hasattr(value, "values") else value
            for each in many if field.is_repeated else [value]:
                if isinstance(each, Protobuf):
                    yield from payloads(each)
