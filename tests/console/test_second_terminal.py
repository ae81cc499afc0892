"""What `surefoot watch -o jsonl` prints in a second terminal while the run goes on in the first."""

import re

import pytest

from tests.console.command import Surefoot
from tests.console.tools_on_disk import write_tool

pytestmark = [pytest.mark.slow, pytest.mark.long]

SCRIPT = """
steps:
  - say: "I look at both: <b>ü</b> 😀"
    call: [{good: {path: "a\\u2028b"}}, {bad: {}}, {nothing: {}}]
    write_seconds: 1
  - call: [{gated: {}}]
  - call: [{good: not an object}]
  - {say: "Done.\\n\\n*All* of it.", usage: {input_tokens: 10, output_tokens: 2}}
"""
TIMES = re.compile(r'"(time|started_at)": "\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)"')


def timeless(printed: str) -> str:
    """Every byte of it but the times, as each was told them."""
    return TIMES.sub(r'"\1": "…"', printed)


def test_a_watcher_in_a_second_terminal_prints_the_same_events_to_the_byte(surefoot_alone: Surefoot) -> None:
    tools = surefoot_alone.directory / "tools"
    begun, gate = surefoot_alone.directory / "begun", surefoot_alone.directory / "gate"
    tools.mkdir()
    # In the run's directory, the only one in which a tool may write.
    write_tool(tools, "gated", "touch begun; while [ ! -e gate ]; do sleep 0.05; done; echo true")
    write_tool(tools, "good", 'echo \'{"n": 1.50, "text": "é\\\\u0000"}\'')
    write_tool(tools, "bad", "echo 'before ü'; echo why >&2; exit 3")
    (surefoot_alone.directory / "talk.yaml").write_text(SCRIPT)
    asked = ("--model", "scripted:talk.yaml", "--tools", "tools", "--workflow-id", "watched", "-o", "jsonl")

    running = surefoot_alone.start("run", "Go on.", *asked)
    running.until(begun.exists)
    watching = surefoot_alone.start("watch", "watched", "-o", "jsonl")
    watching.until_printed("tool_execution_scheduled")
    gate.touch()
    ran, watched = running.ends(), watching.ends()

    assert (ran.exit_code, watched.exit_code) == (0, 0), watched.stderr
    assert timeless(watched.stdout) == timeless(ran.stdout)
    ends = [event["type"] for event in ran.events if "outcome" in event]
    assert (ran.events[-1]["type"], len(ends), len(set(ends))) == ("run_finished", 5, 2)
