from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.agent_answer import agent_answer
from surefoot.run import RunResult
from surefoot.strict_json import json_bytes
from surefoot.usage import Usage


def result(answer: str, output: JsonValue = None) -> RunResult:
    return RunResult(
        status="completed",
        answer=answer,
        output=output,
        turns=1,
        tool_executions=0,
        failed_tool_executions=0,
        usage=Usage(),
    )


def test_a_value_is_told_beside_the_text_that_stands_for_it() -> None:
    told = agent_answer("x", result("[1]", [1]), output=True, limit_bytes=1_024, run="r/1-1")
    assert told.result == {"status": "completed", "answer": "[1]", "reason": None, "turns": 1, "output": [1]}


def test_a_value_that_is_cut_is_none_any_more() -> None:
    told = agent_answer("x", result("9" * 2_000, [9]), output=True, limit_bytes=1_024, run="r/1-1")
    assert isinstance(told.result, dict)
    assert sorted(told.result) == ["answer", "note", "reason", "status", "truncated", "turns"]


@given(answer=st.text(alphabet='a"\n\x00é😀', min_size=1_000, max_size=4_000))
def test_an_answer_never_takes_more_than_the_models_limit(answer: str) -> None:
    told = agent_answer("x", result(answer), output=False, limit_bytes=1_024, run="r/1-1")
    assert json_bytes(told.result) <= 1_024
