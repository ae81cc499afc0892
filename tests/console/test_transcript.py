import io
import json
from datetime import timedelta

from console.followed_run import FollowedRun
from console.markdown_output import MarkdownOutput
from console.output import Output
from console.transcript_json import TranscriptJson
from console.transcript_text import TranscriptText
from surefoot.events import (
    Answered,
    ContextCompacted,
    Event,
    MessageReceived,
)
from surefoot.failures import not_found, timed_out
from tests.console.runs import (
    RUN,
    UI,
    answered,
    at,
    ended,
    finished,
    replied,
    scheduled,
    started,
    turn,
)

FOUND: FollowedRun = {**RUN, "prompt": "Look\nclosely."}
FIRST_TURN: list[Event] = [
    started(),
    turn(1, 0.1),
    replied(1, 1, "I look.", ("bash", {"command": "ls ```"}), ("slow", {"n": 3}), ("nope", {})),
    scheduled("1-1", "bash", 1),
    scheduled("1-2", "slow", 1),
    *ended("1-3", "nope", 1, not_found("nope", ["bash"])),
    *ended("1-2", "slow", 3.1, timed_out("slow", timedelta(seconds=2)), since=1.1),
    *ended("1-1", "bash", 3.5, answered("bash", {"stdout": "a"}), since=1.2),
]
WHOLE: list[Event] = [
    *FIRST_TURN,
    turn(2, 3.5),
    replied(2, 4, "There is one file."),
    finished(65, answer="There is one file."),
]
UNFINISHED: list[Event] = [
    *FIRST_TURN,
    turn(2, 3.5),
    replied(2, 4, "", ("bash", {"command": "ls"}), ("bash", {"command": "pwd"})),
    scheduled("2-1", "bash", 4),
]


def _told(output: Output, stream: io.StringIO, events: list[Event]) -> str:
    output.begin(**FOUND)
    for event in events:
        output.show(event)
    output.end()
    return stream.getvalue()


def _text(events: list[Event]) -> str:
    return _told(TranscriptText(stream := io.StringIO()), stream, events)


def _markdown(events: list[Event]) -> str:
    return _told(MarkdownOutput(stream := io.StringIO()), stream, events)


def test_text_gives_a_call_and_its_ending_on_one_line_in_the_order_asked() -> None:
    assert _text(WHOLE) == (
        "run run-1 with scripted:a.yaml\n"
        f"see {UI}\n"
        "> Look\n"
        "> closely.\n"
        "turn 1\n"
        "  I look.\n"
        "  bash: ls ``` -> ok in 2.3s\n"
        "    stdout: a\n"
        "  slow: n=3 -> TOOL_TIMEOUT after 2.0s: Tool 'slow' timed out after 2s\n"
        "  nope -> TOOL_NOT_FOUND: There is no tool 'nope'; the tools are: bash\n"
        "turn 2\n"
        "  There is one file.\n"
        "completed after 2 turns, 3 tool calls (2 failed), 1m 05s, 1,200 tokens in, 34 out\n"
    )


def test_text_of_a_run_that_goes_on_ends_with_what_is_under_way() -> None:
    assert _text(UNFINISHED).endswith("turn 2\n  bash: ls -> running\n  bash: pwd -> waiting\n")


def test_a_conversation_that_was_made_smaller_is_told_between_the_turns() -> None:
    smaller = ContextCompacted(
        time=at(3.5),
        turn=2,
        reason="full",
        results_shortened=1,
        turns_summarised=0,
        bytes_before=4096,
        bytes_after=1024,
    )
    told = "context window nearly full: 1 result shortened, 4 KB -> 1 KB"

    assert f"\n  {told}\nturn 2\n" in _text([*FIRST_TURN, smaller, *WHOLE[len(FIRST_TURN) :]])
    assert f"\n*{told}*\n\n## Turn 2\n" in _markdown([*FIRST_TURN, smaller, *WHOLE[len(FIRST_TURN) :]])


def test_a_message_is_told_after_the_turn_in_which_it_came() -> None:
    message = MessageReceived(time=at(1.2), text="Look closer.", sender="Ada")
    events: list[Event] = [*FIRST_TURN[:3], message, *WHOLE[3:]]

    assert "    stdout: a\n  slow: n=3" in _text(events)
    assert "\nmessage received from Ada\n> Look closer.\nturn 2\n" in _text(events)
    assert "\n## Message from Ada\n\nLook closer.\n\n## Turn 2\n" in _markdown(events)


def test_a_message_that_no_reply_came_after_is_told_at_the_end() -> None:
    message = MessageReceived(time=at(1.2), text="Look closer.")
    events: list[Event] = [started(), turn(1, 0.1), message, finished(65, status="failed", error="no key")]

    assert "turn 1\nmessage received\n> Look closer.\nfailed after 1 turn" in _text(events)


def test_markdown_has_every_outcome_as_the_model_read_it_whatever_is_in_it() -> None:
    assert _markdown(WHOLE) == (
        "# run-1\n\n"
        "With scripted:a.yaml.\n\n"
        f"<{UI}>\n\n"
        "## Prompt\n\n"
        "Look\nclosely.\n\n"
        "## Turn 1\n\n"
        "I look.\n\n"
        "### bash (1-1): completed after 2.3s\n\n"
        '````json\n{"command": "ls ```"}\n````\n\n'
        '```json\n{"tool": "bash", "tool_success": true, "result": {"stdout": "a"}}\n```\n\n'
        "### slow (1-2): failed after 2.0s\n\n"
        '```json\n{"n": 3}\n```\n\n'
        '```json\n{"tool_success": false, "error": "Tool \'slow\' timed out after 2s", '
        '"error_code": "TOOL_TIMEOUT", "exit_code": null, "stdout": "", "stderr": ""}\n```\n\n'
        "### nope (1-3): failed\n\n"
        "```json\n{}\n```\n\n"
        '```json\n{"tool_success": false, "error": "There is no tool \'nope\'; the tools are: bash", '
        '"error_code": "TOOL_NOT_FOUND", "exit_code": null, "stdout": "", "stderr": ""}\n```\n\n'
        "## Turn 2\n\n"
        "There is one file.\n\n"
        "## Completed after 2 turns, 3 tool calls (2 failed), 1m 05s, 1,200 tokens in, 34 out\n\n"
    )


def test_json_has_the_standing_of_the_run_and_every_turn() -> None:
    told = json.loads(_told(TranscriptJson(stream := io.StringIO()), stream, UNFINISHED))

    assert {name: told[name] for name in ("workflow_id", "prompt", "status", "turns", "tool_executions")} == {
        "workflow_id": "run-1",
        "prompt": "Look\nclosely.",
        "status": "running",
        "turns": 2,
        "tool_executions": 3,
    }
    first, second = told["transcript"]
    assert [(call["tool_exec_id"], call["status"]) for call in first["tool_calls"]] == [
        ("1-1", "completed"),
        ("1-2", "failed"),
        ("1-3", "failed"),
    ]
    assert second == {
        "turn": 2,
        "text": "",
        "tool_calls": [
            {
                "tool_exec_id": "2-1",
                "call_id": "c1",
                "tool": "bash",
                "params": {"command": "ls"},
                "status": "running",
                "outcome": None,
            },
            {
                "tool_exec_id": "2-2",
                "call_id": "c2",
                "tool": "bash",
                "params": {"command": "pwd"},
                "status": "waiting",
                "outcome": None,
            },
        ],
        "messages_received": [],
    }


def test_a_session_that_begins_with_a_message_shows_it_before_its_first_turn() -> None:
    first = MessageReceived(time=at(0.05), text="Hello.", sender="Ada")
    second = MessageReceived(time=at(2), text="And on.")
    session: list[Event] = [
        started(),
        first,
        turn(1, 0.1),
        replied(1, 1, "Hello, Ada."),
        Answered(time=at(1), turn=1, answer="Hello, Ada.", answers=("a",)),
        second,
        turn(2, 2),
        replied(2, 3, "On it is."),
        Answered(time=at(3), turn=2, answer="On it is."),
    ]

    assert _text(session).splitlines()[-8:] == [
        "message received from Ada",
        "> Hello.",
        "turn 1",
        "  Hello, Ada.",
        "message received",
        "> And on.",
        "turn 2",
        "  On it is.",
    ]
    told = json.loads(_told(TranscriptJson(stream := io.StringIO()), stream, session))
    assert (told["status"], [one["turn"] for one in told["transcript"]]) == ("waiting", [0, 1, 2])
