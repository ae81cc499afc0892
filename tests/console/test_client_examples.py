"""The examples of docs/client.md and docs/reducers.md, as they are printed, on the real server."""

import asyncio
import json
import os
import re
import secrets
import sys
import sysconfig
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client

from activities.interface import LlmTurnResult
from surefoot.conversation import Message, UserMessage
from surefoot.usage import Usage
from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.workflows.agents import says, serving, until_event

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs"
CLIENT = (DOCS / "client.md").read_text(encoding="utf-8")
REDUCERS = (DOCS / "reducers.md").read_text(encoding="utf-8")


def block(text: str, language: str) -> str:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)[0]


def section(heading: str) -> str:
    return CLIENT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


class Patient:
    """A model that does not answer before somebody has said something more."""

    def __init__(self, client: Client, workflow_id: str) -> None:
        self._run = client.get_workflow_handle(workflow_id)

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        await until_event(self._run, "message_received")
        said = [message.text for message in messages if isinstance(message, UserMessage)]
        return LlmTurnResult(reply=says(" ".join(said)), usage=Usage(), model_name="patient")


class Ready:
    """A model that answers at once."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        return LlmTurnResult(reply=says("None fails."), usage=Usage(), model_name="ready")


@asynccontextmanager
async def served(client: Client, server: RealServer, example: str) -> AsyncGenerator[str]:
    """Serve the run of an example under names of the test's own; gives the example with them."""
    mark = secrets.token_hex(4)
    own = example.replace("localhost:7233", server.address)
    for name in ("count-files", "count-talk", "nightly-api"):
        own = own.replace(name, f"{name}-{mark}")
    own = re.sub(r'(task_queue=|--task-queue )"?surefoot"?', rf'\g<1>"surefoot-{mark}"', own)
    model = Patient(client, f"count-files-{mark}") if "count-files" in example else Ready()
    async with asyncio.timeout(60), serving(client, model, queue=f"surefoot-{mark}"):
        yield own


async def printed(*command: str, environment: Mapping[str, str], directory: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        env=environment,
        cwd=directory,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    return stdout.decode()


async def python(example: str, directory: Path) -> str:
    """Run an example as a program of its own, which knows nothing of Surefoot."""
    (directory / "example.py").write_text(example)
    command = (sys.executable, "example.py")
    return await printed(*command, environment={"PATH": os.environ["PATH"]}, directory=directory)


async def test_a_run_is_started_followed_messaged_and_awaited_from_python(
    client: Client, server: RealServer, tmp_path: Path
) -> None:
    async with served(client, server, block(section("From Python"), "python")) as example:
        said = await python(example, tmp_path)

    *events, result = said.splitlines()
    assert (events[0], events[-1]) == ("run_started", "run_finished")
    assert "message_received" in events
    assert result == "completed How many files are in src/? And in tests/?"


async def test_one_call_starts_a_session_or_goes_on_with_it_from_python(
    client: Client, server: RealServer, tmp_path: Path
) -> None:
    async with served(client, server, block(section("A conversation"), "python")) as example:
        said = await python(example, tmp_path)

    assert said.splitlines() == ["None fails.", "None fails."]


async def test_a_run_is_a_child_of_somebodys_own_workflow(
    client: Client, server: RealServer, tmp_path: Path
) -> None:
    async with served(client, server, block(section("From a workflow of your own"), "python")) as example:
        said = await python(example, tmp_path)

    assert said == "None fails.\n"


async def test_a_run_is_started_messaged_and_awaited_with_temporals_own_command(
    client: Client, server: RealServer, tmp_path: Path
) -> None:
    environment = {
        "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TEMPORAL_ADDRESS": server.address,
        "TEMPORAL_NAMESPACE": server.namespace,
    }
    shell = block(section("From a shell, or any language"), "sh")
    async with served(client, server, shell) as example:
        said = await printed("sh", "-ec", example, environment=environment, directory=tmp_path)

    assert "How many files are in src/? And in tests/?" in said
    assert '"type":"message_received"' in said.replace(" ", "")


@pytest.mark.long
async def test_the_example_of_a_reducer_keeps_what_is_printed(surefoot: Surefoot) -> None:
    path = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
    shell = block(REDUCERS, "sh").replace("flight", f"flight-{secrets.token_hex(4)}")
    environment = {**surefoot.environment, "PATH": path}
    said = await printed("sh", "-ec", shell, environment=environment, directory=surefoot.directory)

    assert said.splitlines()[0] == "There is no way to fly."
    assert json.loads(said.splitlines()[-1]) == json.loads(block(REDUCERS, "json"))
