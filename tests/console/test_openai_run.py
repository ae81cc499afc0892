import json
import signal
from datetime import datetime, timedelta
from typing import Any

import pytest

from surefoot.strict_json import encode_json
from tests.activities.openai_server import Call, ModelServer, Raw, Reply
from tests.console.command import Command, Ended, Surefoot
from tests.console.tools_on_disk import write_tool

pytestmark = pytest.mark.slow

KEY = "sk-test-0123456789abcdef"
MODEL = ("--model", "openai-chat:test-model", "-o", "jsonl")


def start(surefoot: Surefoot, base_url: str, *arguments: str) -> Command:
    environment = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": KEY}
    return surefoot.start("run", "Go on.", *MODEL, *arguments, environment=environment)


def run(surefoot: Surefoot, server: ModelServer, *arguments: str) -> Ended:
    ended = start(surefoot, server.openai_url, *arguments).ends()
    assert "Traceback" not in ended.stderr, ended.stderr[:3000]
    assert KEY not in ended.stdout + ended.stderr
    return ended


def types(ended: Ended) -> list[str]:
    return [event["type"] for event in ended.events]


def tool_messages(server: ModelServer, request: int) -> list[dict[str, Any]]:
    return [message for message in server.requests[request].body["messages"] if message["role"] == "tool"]


def test_a_run_has_the_documented_events_and_its_model_reads_the_outcomes_verbatim(
    surefoot: Surefoot,
) -> None:
    write_tool(surefoot.directory, "good")
    write_tool(surefoot.directory, "bad", "echo 'before ü'; echo why >&2; exit 3")
    calls = Reply(text="I look.", calls=(Call("good", {"n": 1}),)), Reply(calls=(Call("bad"),))

    with ModelServer(*calls, Reply(text="One of them failed.")) as server:
        ended = run(surefoot, server, "--tools", ".")

    finished = ended.event("run_finished")
    failed = ended.event("tool_execution_failed")["outcome"]
    completed = ended.event("tool_execution_completed")["outcome"]
    assert types(ended) == [
        "run_started",
        *("turn_started", "model_replied"),
        *("tool_execution_scheduled", "tool_execution_started", "tool_execution_completed"),
        *("turn_started", "model_replied"),
        *("tool_execution_scheduled", "tool_execution_started", "tool_execution_failed"),
        *("turn_started", "model_replied"),
        "run_finished",
    ]
    assert (ended.exit_code, finished["status"], finished["answer"]) == (
        0,
        "completed",
        "One of them failed.",
    )
    assert finished["usage"] == {
        "requests": 3,
        "input_tokens": 30,
        "output_tokens": 15,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cost": None,
    }
    assert tool_messages(server, 2) == [
        {"role": "tool", "tool_call_id": "call_1_1", "content": encode_json(completed)},
        {"role": "tool", "tool_call_id": "call_2_1", "content": encode_json(failed)},
    ]
    assert json.loads(tool_messages(server, 2)[1]["content"]) == {
        "tool_success": False,
        "error": "Tool 'bad' crashed with exit code 3",
        "error_code": "TOOL_CRASHED",
        "exit_code": 3,
        "stdout": "before ü\n",
        "stderr": "why\n",
    }


def test_a_provider_that_recovers_is_asked_again(surefoot: Surefoot) -> None:
    with ModelServer(Raw(500, {"error": {"message": "oops"}}), Reply(text="Back again.")) as server:
        ended = run(surefoot, server)

    finished = ended.event("run_finished")
    assert (ended.exit_code, finished["answer"], len(server.requests)) == (0, "Back again.", 2)
    assert types(ended) == ["run_started", "turn_started", "model_replied", "run_finished"]


def test_a_provider_is_left_alone_as_long_as_it_asks(surefoot: Surefoot) -> None:
    limit = Raw(429, {"error": {"message": "slow down"}}, {"retry-after": "3"})

    with ModelServer(limit, Reply(text="Back again.")) as server:
        ended = run(surefoot, server)

    asked, replied = (
        datetime.fromisoformat(ended.event(kind)["time"]) for kind in ("turn_started", "model_replied")
    )
    assert replied - asked >= timedelta(seconds=3)
    assert "the model did not answer: openai limits the rate of requests (429): slow down" in ended.stderr


def test_a_key_that_is_refused_fails_the_run_at_once(surefoot: Surefoot) -> None:
    refusal = Raw(
        401, {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    )

    with ModelServer(refusal) as server:
        ended = run(surefoot, server)

    finished = ended.event("run_finished")
    assert (ended.exit_code, finished["status"], finished["answer"]) == (1, "failed", None)
    assert finished["error"] == "openai refused the key (401): Incorrect API key provided: ***"
    assert len(server.requests) == 1


def test_a_provider_that_talks_garbage_three_times_fails_the_run(surefoot: Surefoot) -> None:
    # Each reply is asked for in pieces, and then as a whole.
    with ModelServer(*[Raw(200, b"<html>Not here.</html>")] * 6) as server:
        ended = run(surefoot, server)

    finished = ended.event("run_finished")
    assert (ended.exit_code, finished["status"], len(server.requests)) == (1, "failed", 6)
    assert finished["error"].startswith("the model keeps giving replies that cannot be read: ")


def test_a_model_that_cannot_be_reached_is_told_of_and_the_run_can_be_left(surefoot: Surefoot) -> None:
    command = start(surefoot, "http://127.0.0.1:1/v1")
    command.until_it_says("the model did not answer: openai cannot be reached")

    command.signal(signal.SIGINT)
    ended = command.ends()

    assert (ended.exit_code, types(ended)) == (130, ["run_started", "turn_started"])
    assert "Traceback" not in ended.stderr, ended.stderr[:3000]


def test_a_model_without_tool_calling_calls_tools_in_text(surefoot: Surefoot) -> None:
    write_tool(surefoot.directory, "good")
    asks = Reply(text='{"reasoning": "I look.", "tool_calls": [{"tool": "good", "params": {"n": 1}}]}')

    with ModelServer(asks, Reply(text="Done.")) as server:
        ended = run(surefoot, server, "--tools", ".", "--protocol", "prompted")

    body = server.requests[1].body
    completed = ended.event("tool_execution_completed")["outcome"]
    assert (ended.exit_code, ended.event("run_finished")["answer"]) == (0, "Done.")
    assert "tools" not in body
    assert body["messages"][-1]["role"] == "user"
    assert body["messages"][-1]["content"].startswith("### good (call 1)")
    assert encode_json(completed) in body["messages"][-1]["content"]
