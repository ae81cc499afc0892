import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import RealServer
from tests.console.command import Ended, Surefoot
from tests.console.tools_on_disk import write_tool

SCRIPT = """
steps:
  - say: I ask one.
    call: [{good: {n: 1}}]
  - call: [{bad: {}}]
  - say: "The other failed: {{last.error_code}}, Ünïcode 😀"
"""
ANSWER = "The other failed: TOOL_CRASHED, Ünïcode 😀"

GOOD = {"tool_exec_id": "1-1", "call_id": "1-1", "tool": "good"}
BAD = {"tool_exec_id": "2-1", "call_id": "2-1", "tool": "bad"}
FAILURE = {
    "tool_success": False,
    "error": "Tool 'bad' crashed with exit code 3",
    "error_code": "TOOL_CRASHED",
    "exit_code": 3,
    "stdout": "before\n",
    "stderr": "why\n",
}
USAGE = {
    "requests": 3,
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "cost": None,
}


def run(server: RealServer, directory: Path, output: str) -> Ended:
    """Run a script whose two calls end as differently as can be; the run's id is the output's name."""
    commands = Surefoot(directory, state_home=server.state_directory.parent)
    (directory / "script.yaml").write_text(SCRIPT)
    write_tool(directory, "good")
    write_tool(directory, "bad", "echo before; echo why >&2; exit 3")
    model = ("--model", "scripted:script.yaml", "--tools", ".")
    try:
        return commands("run", "Go on.", *model, "-o", output, "--workflow-id", f"told-as-{output}")
    finally:
        commands.clean_up()


@pytest.fixture(scope="module")
def jsonl(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    return run(server, tmp_path_factory.mktemp("jsonl"), "jsonl")


@pytest.fixture(scope="module")
def text(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    return run(server, tmp_path_factory.mktemp("text"), "text")


def test_jsonl_is_every_event_of_the_ledger_in_order_and_nothing_else(jsonl: Ended) -> None:
    execution = ["type", "time", "tool_exec_id", "call_id", "tool"]

    assert [(event["type"], list(event)) for event in jsonl.events] == [
        ("run_started", ["type", "time", "workflow_id", "run_id", "ui_url"]),
        ("turn_started", ["type", "time", "turn"]),
        ("model_replied", ["type", "time", "turn", "text", "tool_calls"]),
        ("tool_execution_scheduled", execution),
        ("tool_execution_started", [*execution, "started_at", "executor", "sandbox"]),
        ("tool_execution_completed", [*execution, "outcome"]),
        ("turn_started", ["type", "time", "turn"]),
        ("model_replied", ["type", "time", "turn", "text", "tool_calls"]),
        ("tool_execution_scheduled", execution),
        ("tool_execution_started", [*execution, "started_at", "executor", "sandbox"]),
        ("tool_execution_failed", [*execution, "outcome", "error", "acted"]),
        ("turn_started", ["type", "time", "turn"]),
        ("model_replied", ["type", "time", "turn", "text", "tool_calls"]),
        ("run_finished", ["type", "time", "status", "answer", "output", "error", "usage"]),
    ]
    assert (jsonl.exit_code, jsonl.stderr) == (0, "")


def test_the_events_carry_calls_outcomes_and_the_answer_whole(jsonl: Ended) -> None:
    good_call = {"id": "1-1", "tool": "good", "params": {"n": 1}}
    success = {"tool": "good", "tool_success": True, "result": {"got": {"n": 1}}}
    error = {"message": FAILURE["error"], "code": "TOOL_CRASHED"}

    assert [without_what_varies(event) for event in jsonl.events] == [
        {"type": "run_started", "workflow_id": "told-as-jsonl"},
        {"type": "turn_started", "turn": 1},
        {"type": "model_replied", "turn": 1, "text": "I ask one.", "tool_calls": [good_call]},
        {"type": "tool_execution_scheduled", **GOOD},
        {"type": "tool_execution_started", **GOOD},
        {"type": "tool_execution_completed", **GOOD, "outcome": success},
        {"type": "turn_started", "turn": 2},
        {
            "type": "model_replied",
            "turn": 2,
            "text": "",
            "tool_calls": [{"id": "2-1", "tool": "bad", "params": {}}],
        },
        {"type": "tool_execution_scheduled", **BAD},
        {"type": "tool_execution_started", **BAD},
        {"type": "tool_execution_failed", **BAD, "outcome": FAILURE, "error": error, "acted": "unknown"},
        {"type": "turn_started", "turn": 3},
        {"type": "model_replied", "turn": 3, "text": ANSWER, "tool_calls": []},
        {
            "type": "run_finished",
            "status": "completed",
            "answer": ANSWER,
            "output": None,
            "error": None,
            "usage": USAGE,
        },
    ]


def without_what_varies(event: dict[str, Any]) -> dict[str, Any]:
    varying = ("time", "started_at", "executor", "sandbox", "run_id", "ui_url")
    return {name: value for name, value in event.items() if name not in varying}


def test_times_are_iso_8601_in_utc_and_never_go_back(jsonl: Ended) -> None:
    times = [datetime.fromisoformat(event["time"]) for event in jsonl.events]

    assert times == sorted(times)
    assert {time.utcoffset() for time in times} == {timedelta(0)}


def test_json_is_one_object_about_the_whole_run(server: RealServer, tmp_path: Path) -> None:
    told = json.loads(run(server, tmp_path, "json").stdout)

    assert told.pop("run_id") in told["ui_url"]
    assert told.pop("ui_url").startswith(f"{server.ui_url}/namespaces/default/workflows/told-as-json/")
    assert told == {
        "workflow_id": "told-as-json",
        "status": "completed",
        "answer": ANSWER,
        "output": None,
        "error": None,
        "turns": 3,
        "tool_executions": 2,
        "failed_tool_executions": 1,
        "usage": USAGE,
    }


def test_text_is_the_answer_alone_and_its_progress_on_stderr_names_run_and_link_first(
    text: Ended, server: RealServer
) -> None:
    run_line, link_line, *progress = text.stderr.splitlines()

    assert (text.exit_code, text.stdout) == (0, f"{ANSWER}\n")
    assert run_line.startswith("run told-as-text with scripted:")
    assert link_line.startswith(f"see {server.ui_url}/namespaces/default/workflows/told-as-text/")
    assert [line for line in progress if "TOOL_CRASHED after" in line] != []


def test_nothing_but_progress_is_on_stderr(text: Ended) -> None:
    first_words = [line.split()[0].rstrip(":") for line in text.stderr.splitlines()]

    assert first_words == [
        *("run", "see"),
        *("turn", "I", "good", "good"),
        *("turn", "bad", "bad"),
        *("turn", "completed"),
    ]
