"""Calls of a session that wait for approval, decided about where somebody talks with it."""

import json
import os
import signal
from contextlib import closing

import pytest

from tests.console.command import Surefoot
from tests.console.test_approvals import asks_for, calls_an_agent
from tests.console.test_run_at_a_terminal import Terminal
from tests.console.test_signed_approvals import AUTHORITY, KEY_FILE, has_a_key

pytestmark = pytest.mark.long


def talks(surefoot: Surefoot, workflow_id: str) -> tuple[str, ...]:
    """Give a session whose model calls a tool after each of three messages."""
    asked = asks_for(surefoot, {"a": 1})
    steps = [step for n in (1, 2, 3) for step in ({"call": [{"put": {"a": n}}]}, {"say": f"Answer {n}."})]
    (surefoot.directory / "put.yaml").write_text(json.dumps({"steps": steps}))
    return ("chat", *asked, "--workflow-id", workflow_id)


def test_whoever_talks_is_asked_about_calls(surefoot: Surefoot) -> None:
    with closing(Terminal(surefoot, *talks(surefoot, "asked"))) as terminal:
        terminal.until_it_shows("> ")
        terminal.press("One.\n")
        terminal.until_it_shows("Approve put (1-1)?")
        terminal.press("perhaps\ny\n")
        terminal.until_it_shows("Answer 1.")
        terminal.press("Two.\n")
        terminal.until_it_shows("Approve put (3-1)?")
        terminal.press("n Not two.\n")
        terminal.until_it_shows("Answer 2.")
        # Somebody else says something while nothing is asked here but for the next message.
        sent = surefoot("send", "asked", "Three.")
        terminal.until_it_shows("Approve put (5-1)?")
        terminal.press("y\n")
        terminal.until_it_shows("Answer 3.")
        terminal.press("/end\n")
        exit_code = terminal.ends()

    told = json.loads(surefoot("show", "asked", "-o", "json").stdout)
    assert (sent.exit_code, exit_code) == (0, 0), terminal.shown
    assert "put (3-1) denied: Not two." in terminal.shown
    # No reply to a question became a message.
    received = [message["text"] for turn in told["transcript"] for message in turn["messages_received"]]
    assert received == ["One.", "Two.", "Three."]


def test_a_question_is_asked_again_when_its_session_is_resumed(surefoot: Surefoot) -> None:
    with closing(Terminal(surefoot, *talks(surefoot, "asked-again"))) as left:
        left.until_it_shows("> ")
        left.press("One.\n")
        left.until_it_shows("Approve put (1-1)?")
        os.killpg(left.process.pid, signal.SIGINT)
        detached = left.ends()
    with closing(Terminal(surefoot, "chat", "--resume", "asked-again")) as resumed:
        resumed.until_it_shows("put (1-1) waits for approval")
        resumed.until_it_shows("Approve put (1-1)?")
        resumed.press("y\n")
        resumed.until_it_shows("Answer 1.")
        resumed.press("/end\n")
        exit_code = resumed.ends()

    assert (detached, exit_code) == (130, 0), resumed.shown


def test_calls_of_agents_are_asked_about_and_signed(surefoot: Surefoot) -> None:
    asked = calls_an_agent(surefoot)
    surefoot.environment |= {AUTHORITY: has_a_key(surefoot, "ada"), KEY_FILE: "ada.pem"}
    with closing(Terminal(surefoot, "chat", *asked, "--workflow-id", "caller")) as terminal:
        terminal.until_it_shows("> ")
        terminal.press("Put it.\n")
        terminal.until_it_shows("Approve put (1-1)?")
        terminal.press("y\n")
        terminal.until_it_shows("It is put.")
        terminal.press("/end\n")
        exit_code = terminal.ends()

    told = surefoot("show", "caller/1-1").stdout
    assert exit_code == 0, terminal.shown
    assert "put (1-1) approved, signed by the key ada" in told
