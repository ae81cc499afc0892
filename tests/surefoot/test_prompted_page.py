"""docs/prompted-protocol.md says what the code says."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from surefoot.conversation import ToolMessage
from surefoot.failures import timed_out
from surefoot.limits import MAX_UNREADABLE_REPLIES
from surefoot.outcome import ToolSuccess
from surefoot.prompted import REPLY_FORMAT, flatten
from surefoot.prompted_reply import read_reply

PAGE = (Path(__file__).parents[2] / "docs" / "prompted-protocol.md").read_text(encoding="utf-8")
ROWS: list[tuple[str, str]] = re.findall(r"^\| `(.+)` \| (.+) \|$", PAGE, flags=re.MULTILINE)


def test_what_the_model_is_told_is_quoted_as_it_is() -> None:
    listing = ToolSuccess(
        tool="bash", result={"stdout": "main.c\n", "stderr": "", "exit_code": 0, "truncated": False}
    )
    outcomes = [
        ToolMessage(call_id="1", tool="bash", outcome=listing),
        ToolMessage(call_id="2", tool="slow-tool", outcome=timed_out("slow-tool", timedelta(seconds=30))),
    ]
    assert f"````text\n{REPLY_FORMAT}\n````" in PAGE
    assert f"```text\n{flatten(outcomes)[0].text}\n```" in PAGE


@pytest.mark.parametrize(("reply", "told"), [pytest.param(*row, id=row[0]) for row in ROWS])
def test_a_reply_is_read_as_the_page_says(reply: str, told: str) -> None:
    read = read_reply(reply)
    calls = " and ".join(f"a call of {call.tool}" for call in read.tool_calls)
    assert (read.unreadable or calls or "the answer") == told


def test_the_page_counts_as_the_code_does() -> None:
    assert (len(ROWS), MAX_UNREADABLE_REPLIES, "With the third reply in a row" in PAGE) == (10, 3, True)
