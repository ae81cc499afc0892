import io
import json

from console.json_output import JsonOutput
from surefoot.events import Event
from surefoot.failures import crashed
from tests.console.runs import RUN, UI, answered, ended, finished, replied, started, turn


def _object(*events: Event) -> object:
    stdout = io.StringIO()
    output = JsonOutput(stdout)
    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()
    return json.loads(stdout.getvalue())


def test_a_run_that_has_ended_is_one_object() -> None:
    shown = _object(
        started(),
        turn(1, 1),
        replied(1, 2, "", ("bash", {}), ("bash", {})),
        *ended("1-1", "bash", 3, answered("bash", {}), since=2),
        *ended("1-2", "bash", 3, crashed("bash", 1), since=2),
        turn(2, 3),
        replied(2, 4, "done"),
        finished(5, status="limit_reached", answer="done", error="limit of 2 turns"),
    )

    assert shown == {
        "workflow_id": "run-1",
        "run_id": "r-1",
        "ui_url": UI,
        "status": "limit_reached",
        "answer": "done",
        "output": None,
        "error": "limit of 2 turns",
        "turns": 2,
        "tool_executions": 2,
        "failed_tool_executions": 1,
        "usage": {
            "requests": 2,
            "input_tokens": 1200,
            "output_tokens": 34,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "cost": None,
        },
    }


def test_a_run_that_was_left_is_running() -> None:
    shown = _object(started(), turn(1, 1))

    assert shown == {
        "workflow_id": "run-1",
        "run_id": "r-1",
        "ui_url": UI,
        "status": "running",
        "answer": None,
        "output": None,
        "error": None,
        "turns": 1,
        "tool_executions": 0,
        "failed_tool_executions": 0,
        "usage": {
            "requests": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "cost": None,
        },
    }
