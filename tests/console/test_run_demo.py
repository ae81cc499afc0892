import re
from typing import Any

import pytest

from tests.conftest import RealServer
from tests.console.command import ROOT, Ended, Surefoot


@pytest.fixture(scope="module")
def demo(server: RealServer, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    commands = Surefoot(tmp_path_factory.mktemp("demo"), state_home=server.state_directory.parent)
    script = ROOT / "examples/failures/demo.yaml"
    tools = ("--tools", "builtin", "--tools", "examples/failures")
    try:
        return commands(
            "run", "Take stock.", "--model", f"scripted:{script}", *tools, "-o", "jsonl", directory=ROOT
        )
    finally:
        commands.clean_up()


def failure(
    error_code: str, error: str, *, stdout: str = "", stderr: str = "", **more: int
) -> dict[str, Any]:
    outcome = {"tool_success": False, "error": error, "error_code": error_code, "exit_code": None}
    return {**outcome, "stdout": stdout, "stderr": stderr, **more}


def test_the_demo_ends_well_and_names_all_six_failures(demo: Ended) -> None:
    answer = demo.event("run_finished")["answer"]
    told = ["TOOL_NOT_FOUND", "INVALID_PARAMS", "TOOL_TIMEOUT", "TOOL_CRASHED", "INVALID_OUTPUT", "truncated"]

    assert demo.exit_code == 0, demo.stderr
    assert [one for one in told if one not in answer] == []


def test_the_failures_of_the_demo_reach_the_model_as_the_documented_envelopes(demo: Ended) -> None:
    failed = [event["outcome"] for event in demo.events if event["type"] == "tool_execution_failed"]
    by_code = {outcome["error_code"]: outcome for outcome in failed}
    told, in_time = by_code["INVALID_PARAMS"]["error"], by_code["TOOL_TIMEOUT"]["stdout"]

    assert told.startswith("Tool 'slow-tool' was not called, its params are invalid: items: ")
    # How far it comes in two seconds depends on how busy the machine is.
    assert re.fullmatch(r"Processing item 1\.\.\.\n(Processing item 2\.\.\.\n)?", in_time)
    assert by_code == {
        "TOOL_NOT_FOUND": failure("TOOL_NOT_FOUND", "There is no tool 'bash_tool'; did you mean 'bash'?"),
        "INVALID_PARAMS": failure("INVALID_PARAMS", told),
        "TOOL_TIMEOUT": failure(
            "TOOL_TIMEOUT",
            "Tool 'slow-tool' timed out after 2s",
            stdout="Processing item 1...\nProcessing item 2...\n",
        ),
        "TOOL_CRASHED": failure(
            "TOOL_CRASHED",
            "Tool 'buggy-tool' crashed with exit code 139",
            exit_code=139,
            stderr="Segmentation fault (core dumped)\n",
        ),
        "INVALID_OUTPUT": failure(
            "INVALID_OUTPUT",
            "Tool 'broken-tool' returned invalid JSON",
            exit_code=0,
            stdout="not valid json{{{",
        ),
    }


def test_the_code_of_the_demo_is_cut_off_with_the_documented_marker(demo: Ended) -> None:
    code = next(
        event["outcome"]["result"]
        for event in demo.events
        if event["type"] == "tool_execution_completed" and event["call_id"] == "code"
    )

    assert code["truncated"] is True
    assert code["stdout"].endswith(" more bytes] ...\n\n[OUTPUT TRUNCATED - exceeded 10KB limit]")
    assert len(code["stdout"].encode()) <= 10_240


def test_a_call_that_is_never_made_is_neither_scheduled_nor_started(demo: Ended) -> None:
    kinds = [event["type"] for event in demo.events if event.get("tool") == "bash_tool"]

    assert kinds == ["tool_execution_failed"]
