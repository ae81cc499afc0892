"""Replies that are seen at a terminal while they are written, and nowhere else."""

import os
import signal
from collections.abc import Generator
from contextlib import closing

import pytest

from tests.activities.openai_server import HELD, ModelServer, Reply, Stream
from tests.activities.providers.events import chat_events
from tests.activities.providers.wire import chat_completion
from tests.console.command import Surefoot
from tests.console.test_run_at_a_terminal import Terminal

pytestmark = [pytest.mark.slow, pytest.mark.long]

BEGUN, WHOLE = "alpha beta ", "alpha beta gamma delta"
GROWING = "│ alpha beta"
MODEL = ("--model", "openai-chat:m")


@pytest.fixture
def server(surefoot_alone: Surefoot) -> Generator[ModelServer]:
    """Holds its reply after the first words."""
    pieces = chat_events(chat_completion(Reply(text=WHOLE), 1), len(BEGUN), usage=True)
    with ModelServer(Stream([*pieces[:2], HELD, *pieces[2:]])) as server:
        surefoot_alone.environment["OPENAI_BASE_URL"] = server.openai_url
        yield server


def test_a_run_and_its_watcher_show_the_reply_while_it_is_written(
    surefoot_alone: Surefoot, server: ModelServer
) -> None:
    with closing(Terminal(surefoot_alone, "run", "Go on.", *MODEL, "--workflow-id", "growing")) as ran:
        ran.until_it_shows(GROWING)
        with closing(Terminal(surefoot_alone, "watch", "growing")) as watched:
            watched.until_it_shows(GROWING)
            piped = surefoot_alone.start("watch", "growing")
            piped.until_it_says("turn 1")
            events = surefoot_alone.start("watch", "growing", "-o", "jsonl")
            events.until_printed("turn_started")
            server.go_on()
            for terminal in (ran, watched):
                terminal.until_it_shows(WHOLE)
            codes = [terminal.ends() for terminal in (ran, watched)]
        plain, told = piped.ends(), events.ends()

    assert (codes, plain.exit_code, told.exit_code) == ([0, 0], 0, 0)
    assert (plain.stdout, "alpha" in plain.stderr) == (f"{WHOLE}\n", False)
    assert [line for line in told.stdout.splitlines() if "alpha" in line and WHOLE not in line] == []


def test_a_chat_shows_the_answer_while_it_is_written(surefoot_alone: Surefoot, server: ModelServer) -> None:
    with closing(Terminal(surefoot_alone, "chat", *MODEL, "--workflow-id", "growing-chat")) as chat:
        chat.until_it_shows("> ")
        chat.press("Hello.\n")
        chat.until_it_shows(GROWING)
        server.go_on()
        chat.until_it_shows(WHOLE)
        os.killpg(chat.process.pid, signal.SIGINT)
        exit_code = chat.ends()

    # Nothing of it is left above the answer: the line is gone over, and erased.
    assert (exit_code, chat.shown.count(f"\x1b[1A\x1b[2K{WHOLE}")) == (130, 1)
