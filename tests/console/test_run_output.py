import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RealServer
from tests.console.command import Ended, Surefoot
from tests.console.tools_on_disk import write_tool

SCRIPT = """
steps:
  - say: I ask both.
    call:
      - good: {n: 1}
      - bad: {}
  - say: "One answered: {{last.error_code}}, Ünïcode 😀"
"""

EXECUTION = ["type", "time", "tool_exec_id", "call_id", "tool"]
NAMES = {"tool_exec_id": "1-1", "call_id": "1-1", "tool": "good"}
OTHER_NAMES = {"tool_exec_id": "1-2", "call_id": "1-2", "tool": "bad"}
FAILURE = {
    "tool_success": False,
    "error": "Tool 'bad' crashed with exit code 3",
    "error_code": "TOOL_CRASHED",
    "exit_code": 3,
    "stdout": "before\n",
    "stderr": "why\n",
}


class Prepared:
    """A script and the tools that it calls, one of which fails."""

    def __init__(self, directory: Path) -> None:
        (directory / "script.yaml").write_text(SCRIPT)
        (directory / "tools").mkdir()
        write_tool(directory / "tools", "good")
        # It fails after the other has answered, so that the order of the events is always the same.
        write_tool(directory / "tools", "bad", "sleep 0.4; echo before; echo why >&2; exit 3")
        self.arguments = ("--model", f"scripted:{directory}/script.yaml", "--tools", f"{directory}/tools")


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    return Prepared(tmp_path)


def test_jsonl_is_every_event_of_the_ledger_in_order_and_nothing_else(
    surefoot: Surefoot, prepared: Prepared
) -> None:
    ended = surefoot("run", "Go on.", *prepared.arguments, "-o", "jsonl")

    assert [(event["type"], list(event)) for event in ended.events] == [
        ("run_started", ["type", "time", "workflow_id", "run_id", "ui_url"]),
        ("turn_started", ["type", "time", "turn"]),
        ("model_replied", ["type", "time", "turn", "text", "tool_calls"]),
        ("tool_execution_scheduled", EXECUTION),
        ("tool_execution_scheduled", EXECUTION),
        ("tool_execution_started", [*EXECUTION, "started_at", "executor"]),
        ("tool_execution_completed", [*EXECUTION, "outcome"]),
        ("tool_execution_started", [*EXECUTION, "started_at", "executor"]),
        ("tool_execution_failed", [*EXECUTION, "outcome", "error", "acted"]),
        ("turn_started", ["type", "time", "turn"]),
        ("model_replied", ["type", "time", "turn", "text", "tool_calls"]),
        ("run_finished", ["type", "time", "status", "answer", "error", "usage"]),
    ]
    assert ended.exit_code == 0


def test_the_events_carry_calls_outcomes_and_the_answer_whole(surefoot: Surefoot, prepared: Prepared) -> None:
    ended = surefoot(
        "run", "Go on.", *prepared.arguments, "-o", "jsonl", "--workflow-id", surefoot.directory.name
    )

    assert without_times(ended.events[:-1]) == [
        {"type": "run_started", "workflow_id": surefoot.directory.name},
        {"type": "turn_started", "turn": 1},
        {
            "type": "model_replied",
            "turn": 1,
            "text": "I ask both.",
            "tool_calls": [
                {"id": "1-1", "tool": "good", "params": {"n": 1}},
                {"id": "1-2", "tool": "bad", "params": {}},
            ],
        },
        {"type": "tool_execution_scheduled", **NAMES},
        {"type": "tool_execution_scheduled", **OTHER_NAMES},
        {"type": "tool_execution_started", **NAMES},
        {
            "type": "tool_execution_completed",
            **NAMES,
            "outcome": {"tool": "good", "tool_success": True, "result": {"got": {"n": 1}}},
        },
        {"type": "tool_execution_started", **OTHER_NAMES},
        {
            "type": "tool_execution_failed",
            **OTHER_NAMES,
            "outcome": FAILURE,
            "error": {"message": FAILURE["error"], "code": "TOOL_CRASHED"},
            "acted": "unknown",
        },
        {"type": "turn_started", "turn": 2},
        {
            "type": "model_replied",
            "turn": 2,
            "text": "One answered: TOOL_CRASHED, Ünïcode 😀",
            "tool_calls": [],
        },
    ]


def without_times(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is the same in every run."""
    varying = ("time", "started_at", "executor", "run_id", "ui_url")
    return [{name: value for name, value in event.items() if name not in varying} for event in events]


def test_times_are_iso_8601_in_utc_and_never_go_back(surefoot: Surefoot, prepared: Prepared) -> None:
    events = surefoot("run", "Go on.", *prepared.arguments, "-o", "jsonl").events
    times = [datetime.fromisoformat(event["time"]) for event in events]

    assert times == sorted(times)
    assert {time.utcoffset() for time in times} == {times[0].utcoffset()}
    assert all(event["time"].endswith("Z") for event in events)


def test_json_is_one_object_about_the_whole_run(
    surefoot: Surefoot, prepared: Prepared, server: RealServer
) -> None:
    ended = surefoot("run", "Go on.", *prepared.arguments, "-o", "json", "--workflow-id", "of-json")
    told = json.loads(ended.stdout)

    assert told.pop("run_id") in told["ui_url"]
    assert told.pop("ui_url").startswith(f"{server.ui_url}/namespaces/default/workflows/of-json/")
    assert told == {
        "workflow_id": "of-json",
        "status": "completed",
        "answer": "One answered: TOOL_CRASHED, Ünïcode 😀",
        "error": None,
        "turns": 2,
        "tool_executions": 2,
        "failed_tool_executions": 1,
        "usage": {
            "requests": 2,
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
        },
    }


@pytest.fixture
def text(surefoot: Surefoot, prepared: Prepared) -> Ended:
    return surefoot("run", "Go on.", *prepared.arguments, "--workflow-id", "of-text")


def test_text_is_the_answer_alone_and_its_progress_on_stderr_names_run_and_link_first(
    text: Ended, server: RealServer
) -> None:
    run, link, *progress = text.stderr.splitlines()

    assert text.stdout == "One answered: TOOL_CRASHED, Ünïcode 😀\n"
    assert run.startswith("run of-text with scripted:")
    assert link.startswith(f"see {server.ui_url}/namespaces/default/workflows/of-text/")
    assert [line for line in progress if "TOOL_CRASHED after" in line] != []


def test_nothing_but_progress_is_on_stderr(text: Ended) -> None:
    first_words = [line.split()[0] for line in text.stderr.splitlines()]

    assert first_words == ["run", "see", "turn", "I", "good:", "bad", "good:", "bad", "turn", "completed"]
