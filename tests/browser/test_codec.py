"""The same run in Temporal's UI with somebody who decrypts for it, and without."""

import re
import signal
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.browser.chromium import open_page
from tests.browser.pages import Pages
from tests.console.command import Command, Surefoot
from workers.server_ports import free_port

pytestmark = pytest.mark.long

KEYS = {"SUREFOOT_ENCRYPTION_KEYS": "first:" + "A" * 43}
ELSEWHERE = "elsewhere.example"
PROMPT = "Find the horse of the princess."
COMMAND = "echo 'it is in the orchard'"
ANSWER = "The horse eats apples."
SCRIPT = f"""
steps:
  - call: [{{bash: {{command: "{COMMAND}"}}}}]
  - say: {ANSWER}
"""


@pytest.fixture
def surefoot(tmp_path: Path) -> Generator[Surefoot]:
    commands = Surefoot(tmp_path, state_home=tmp_path / "state")
    (tmp_path / "horse.yaml").write_text(SCRIPT)
    yield commands
    commands.clean_up()
    commands.kill_server()


def started(surefoot: Surefoot, environment: Mapping[str, str]) -> Command:
    dev = surefoot.start("dev", "--port", free_port(), "--ui-port", free_port(), environment=environment)
    dev.until_it_says("task queue surefoot")
    return dev


@asynccontextmanager
async def pages_of(dev: Command, *, host: str = "127.0.0.1") -> AsyncGenerator[Pages]:
    (port,) = re.findall(r"UI +http://127\.0\.0\.1:(\d+)", dev.stderr)
    async with open_page(names={ELSEWHERE: "127.0.0.1"}) as page:
        yield Pages(page, f"http://{host}:{port}")


async def opaque(pages: Pages, run_id: str) -> None:
    """Look at a run where nothing of what it says is to be seen."""
    for tab, sign in (("timeline", "bash"), ("history", "Workflow Execution Completed")):
        await pages.run("horse", run_id, tab)
        await pages.shows(sign)
        await pages.settled()
        said = await pages.said()
        assert [text for text in (PROMPT, COMMAND, "orchard", ANSWER) if text in said] == []


async def test_a_run_is_readable_with_the_codec_of_dev_and_opaque_without_or_elsewhere(
    surefoot: Surefoot,
) -> None:
    dev = started(surefoot, KEYS)
    ended = surefoot(
        *("run", PROMPT, "--model", "scripted:horse.yaml", "--workflow-id", "horse", "-o", "jsonl"),
        environment=KEYS,
    )
    run_id = ended.event("run_started")["run_id"]
    async with pages_of(dev) as pages:
        await pages.run("horse", run_id, "user-metadata")
        await pages.shows(PROMPT)
        await pages.run("horse", run_id, "timeline")
        await pages.shows(f"bash • {COMMAND}")
        await pages.run("horse", run_id, "history")
        await pages.shows("Workflow Execution Completed", ANSWER)
    # The same page by a name that somebody else made to point here.
    async with pages_of(dev, host=ELSEWHERE) as pages:
        await opaque(pages, run_id)
    dev.signal(signal.SIGTERM)
    stopped = dev.ends()

    without = started(surefoot, {})
    async with pages_of(without) as pages:
        await opaque(pages, run_id)

    assert ended.event("run_finished")["answer"] == ANSWER
    assert stopped.exit_code == 0
