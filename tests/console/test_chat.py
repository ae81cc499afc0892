"""Talking with an agent from a script and at a terminal, as docs/chat.md says."""

import json
import os
import re
import signal
import sysconfig
from contextlib import closing
from pathlib import Path
from subprocess import run

import pytest

from tests.console.command import Surefoot
from tests.console.test_run_at_a_terminal import Terminal

CHAT = (Path(__file__).parents[2] / "docs" / "chat.md").read_text(encoding="utf-8")

TALK = "steps: [{say: 'First: {{prompt}}'}, {say: 'Then: {{message}}'}, {say: 'Last: {{message}}'}]\n"


def blocks(language: str) -> list[str]:
    found = re.findall(r"```(\w*)\n(.*?)```", CHAT, flags=re.DOTALL)
    return [text for its, text in found if its == language]


@pytest.mark.slow
def test_the_example_of_a_script_prints_what_is_said_of_it(surefoot: Surefoot) -> None:
    path = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"
    ended = run(
        ["sh", "-ec", blocks("sh")[1]],
        env={**surefoot.environment, "PATH": path},
        cwd=surefoot.directory,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (0, blocks("")[0]), ended.stderr
    assert "  bash: wc -l < /etc/hostname -> ok in" in ended.stderr


@pytest.mark.long
def test_a_session_that_is_left_is_resumed_and_each_message_is_answered_once(surefoot: Surefoot) -> None:
    (surefoot.directory / "talk.yaml").write_text(TALK)
    begun = ("chat", "--model", "scripted:talk.yaml", "--workflow-id", "talk", "--idle", "7d")
    with closing(Terminal(surefoot, *begun)) as left:
        left.until_it_shows("> ")
        left.press("Hello\\\nthere.\n")
        left.until_it_shows("First: Hello")
        os.killpg(left.process.pid, signal.SIGINT)
        detached = left.ends()

    resumed = surefoot("chat", "-o", "jsonl", "--resume", "talk", stdin=b"And on.\nAnd out.\n")
    refused = surefoot("chat", "--resume", "talk", "--model", "other")
    again = surefoot("chat", "--resume", "talk", stdin=b"Still there?\n")

    assert detached == 130
    assert "`surefoot chat --resume talk` goes on with it." in left.shown
    answers = [event["answer"] for event in resumed.events if event["type"] == "answered"]
    assert (resumed.exit_code, answers) == (0, ["Then: And on.", "Last: And out."])
    assert resumed.event("run_finished")["status"] == "completed"
    assert surefoot.remembered_queues() == []
    assert (refused.exit_code, refused.stderr) == (
        2,
        "surefoot: --resume goes on with a session as it was started: leave --model out\n",
    )
    assert (again.exit_code, again.stderr) == (
        2,
        "surefoot: the session 'talk' has ended; `surefoot show` prints it\n",
    )
    told = json.loads(surefoot("show", "talk", "-o", "json").stdout)
    assert [turn["text"] for turn in told["transcript"]] == ["", "First: Hello\nthere.", *answers]
