import io
import json

from console.followed_run import FollowedRun
from console.jsonl import JsonlOutput
from surefoot.events import Event
from surefoot.failures import Captured, crashed
from tests.console.runs import (
    RUN,
    UI,
    answered,
    at,
    ended,
    finished,
    replied,
    scheduled,
    snapshot,
    started,
    turn,
)

NAMES = {"workflow_id": "run-1", "run_id": "r-1"}
FIRST = {"tool_exec_id": "1-1", "call_id": "c1", "tool": "bash"}
SECOND = {"tool_exec_id": "1-2", "call_id": "c2", "tool": "bash"}


def _time(seconds: str) -> str:
    return f"2025-01-01T12:00:{seconds}Z"


def _lines(*events: Event) -> list[str]:
    stdout = io.StringIO()
    output = JsonlOutput(stdout, io.StringIO())
    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()
    return stdout.getvalue().splitlines()


def test_every_event_is_a_line_with_type_and_time_first() -> None:
    outcome = answered("bash", {"stdout": "a\n"})
    failure = crashed("bash", 139, Captured(stderr="Segmentation fault\n"))

    lines = _lines(
        started(),
        turn(1, 1),
        replied(1, 2, "I look.", ("bash", {"command": "ls"}), ("bash", {})),
        scheduled("1-1", "bash", 2),
        *ended("1-1", "bash", 3, outcome, since=2.5),
        *ended("1-2", "bash", 4, failure),
        finished(5, answer="done"),
    )

    expected: list[dict[str, object]] = [
        {
            "type": "run_started",
            "time": _time("00"),
            "workflow_id": "run-1",
            "run_id": "r-1",
            "ui_url": UI,
        },
        {"type": "turn_started", "time": _time("01"), "turn": 1},
        {
            "type": "model_replied",
            "time": _time("02"),
            "turn": 1,
            "text": "I look.",
            "tool_calls": [
                {"id": "c1", "tool": "bash", "params": {"command": "ls"}},
                {"id": "c2", "tool": "bash", "params": {}},
            ],
        },
        {"type": "tool_execution_scheduled", "time": _time("02"), **FIRST},
        {
            "type": "tool_execution_started",
            "time": _time("03"),
            **FIRST,
            "started_at": _time("02.500000"),
            "executor": "worker-1",
        },
        {
            "type": "tool_execution_completed",
            "time": _time("03"),
            **FIRST,
            "outcome": {"tool": "bash", "tool_success": True, "result": {"stdout": "a\n"}},
        },
        {
            "type": "tool_execution_failed",
            "time": _time("04"),
            **SECOND,
            "outcome": {
                "tool_success": False,
                "error": "Tool 'bash' crashed with exit code 139",
                "error_code": "TOOL_CRASHED",
                "exit_code": 139,
                "stdout": "",
                "stderr": "Segmentation fault\n",
            },
            "error": {"message": "Tool 'bash' crashed with exit code 139", "code": "TOOL_CRASHED"},
            "acted": "unknown",
        },
        {
            "type": "run_finished",
            "time": _time("05"),
            "status": "completed",
            "answer": "done",
            "output": None,
            "error": None,
            "usage": {
                "requests": 2,
                "input_tokens": 1200,
                "output_tokens": 34,
                "cache_read_tokens": 0,
                "cache_write_tokens": 0,
                "cost": None,
            },
        },
    ]
    assert lines == [json.dumps(line) for line in expected]


def test_text_with_line_separators_stays_on_one_line() -> None:
    (line,) = _lines(finished(1, answer="a\nb\u2028c\x85d\x1b"))

    assert json.loads(line)["answer"] == "a\nb\u2028c\x85d\x1b"


def test_a_run_that_was_left_before_its_first_event_is_named_all_the_same() -> None:
    stdout = io.StringIO()
    output = JsonlOutput(stdout, io.StringIO(), clock=lambda: at(0))

    output.begin(workflow_id="run-1", run_id="r-1", ui_url=None, model="m")
    output.end()

    assert json.loads(stdout.getvalue()) == {
        "type": "run_started",
        "time": "2025-01-01T12:00:00Z",
        "workflow_id": "run-1",
        "run_id": "r-1",
        "ui_url": None,
    }


def test_what_stands_in_the_way_goes_to_stderr() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    output = JsonlOutput(stdout, stderr)
    run: FollowedRun = {**RUN, "queue": "gpu"}
    output.begin(**run)

    for _ in range(4):
        output.now(snapshot(served=False))

    assert (stdout.getvalue(), stderr.getvalue()) == (
        "",
        "no worker answers for this run yet (queue gpu)\n",
    )
