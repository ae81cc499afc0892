"""A conversation that goes on while its workers are killed, in the middle of what they do."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle

from surefoot.events import (
    Answered,
    Event,
    MessageReceived,
    ToolExecutionFailed,
)
from surefoot.run import SendMessage
from tests.activities.tools.disk_tools import SHELL, write_tool
from tests.workers.real_workers import WorkerProcess, new_queue
from tests.workflows.agents import start
from tests.workflows.test_chain import chain_of
from workers.following import follow
from workers.sessions import end_session, tell_session
from workers.snapshot import Snapshot
from workers.updates import UnansweredError

MESSAGES = [f"message {n}" for n in range(1, 21)]


class Hearing:
    """Follows a session, whoever serves it, and lets a test wait for its events."""

    def __init__(self, client: Client, run: WorkflowHandle[Any, Any]) -> None:
        self.events: list[Event] = []
        self._more = asyncio.Event()
        self.following = asyncio.create_task(self._follow(client, run.id))

    async def _follow(self, client: Client, workflow_id: str) -> None:
        async for seen in follow(client, workflow_id):
            if not isinstance(seen, Snapshot):
                self.events.append(seen)
                self._more.set()

    async def until(self, shows: Callable[[Event], bool]) -> None:
        while not any(map(shows, self.events)):
            self._more.clear()
            await self._more.wait()

    async def until_answered(self, message_id: str) -> None:
        await self.until(lambda event: isinstance(event, Answered) and message_id in event.answers)


def write_script(directory: Path) -> None:
    """Have a model call a tool and answer for each message; the fifteenth takes it longer to think of."""
    steps = [
        f"  - {{call: [{{note: {{n: {n}}}}}], delay_seconds: {3 if n == 15 else 0}}}\n"
        f"  - say: 'You said {{{{message}}}}.'\n"
        for n in range(1, 21)
    ]
    (directory / "talk.yaml").write_text(f"steps:\n  - say: Ready.\n{''.join(steps)}")
    note = 'echo "$1" >> noted\n'
    wait = 'case "$1" in *10}*) echo begun > begun; sleep 60;; esac\n'
    write_tool(directory / "tools", "note", f'{SHELL}{note}{wait}printf %s "$1"')


async def say(client: Client, run: WorkflowHandle[Any, Any], text: str) -> None:
    """Send a message until somebody takes it, always as the same one."""
    while True:
        try:
            return await tell_session(client, run.id, SendMessage(text=text, message_id=text))
        except UnansweredError:
            continue


@pytest.mark.long
async def test_a_chat_of_20_messages_over_three_worker_restarts_loses_and_repeats_nothing(
    client: Client, tmp_path: Path
) -> None:
    write_script(tmp_path)
    queue = new_queue()

    def served() -> WorkerProcess:
        return WorkerProcess(client, tmp_path, queue=queue)

    model = f"scripted:{tmp_path / 'talk.yaml'}"
    run = await start(client, queue, model=model, session={}, chain={"max_events": 60})
    here = client.get_workflow_handle(run.id)
    hearing = Hearing(client, here)

    async def talk(first: int, last: int) -> None:
        for text in MESSAGES[first:last]:
            await say(client, here, text)
            await hearing.until_answered(text)

    async with asyncio.timeout(240):
        with served():
            await hearing.until(lambda event: isinstance(event, Answered))
            await talk(0, 5)
        # Nobody is there when the sixth is sent.
        sixth = asyncio.create_task(talk(5, 9))
        with served() as second:
            await sixth
            await say(client, here, MESSAGES[9])
            while not (tmp_path / "begun").exists():  # noqa: ASYNC110  another process
                await asyncio.sleep(0.02)
            second.kill()
        with served() as third:
            await hearing.until_answered(MESSAGES[9])
            await talk(10, 14)
            await say(client, here, MESSAGES[14])
            await hearing.until(
                lambda event: getattr(event, "turn", 0) == 30 and event.type == "turn_started"
            )
            third.kill()
        with served():
            await hearing.until_answered(MESSAGES[14])
            await talk(15, 20)
            await end_session(client, run.id)
            await hearing.following
            chain = await chain_of(here, client)

    events = hearing.events
    told = [(one.answers, one.answer) for one in events if isinstance(one, Answered)]
    assert told == [((), "Ready."), *(((text,), f"You said {text}.") for text in MESSAGES)]
    assert [one.text for one in events if isinstance(one, MessageReceived)] == MESSAGES
    lost = [one.outcome.error_code for one in events if isinstance(one, ToolExecutionFailed)]
    assert lost == ["TOOL_LOST"]
    noted = (tmp_path / "noted").read_text().splitlines()
    assert noted == [f'{{"n": {n}}}' for n in range(1, 21)]
    assert len(chain) > 3
