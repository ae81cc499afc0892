import pytest
from pydantic import JsonValue

from activities.scripted.condition import OutcomeView, Pattern, first_match, matches

TIMEOUT: OutcomeView = {
    "tool": "slow",
    "tool_success": False,
    "error_code": "TOOL_TIMEOUT",
    "exit_code": None,
}
LISTING: OutcomeView = {
    "tool": "bash",
    "tool_success": True,
    "result": {"stdout": "main.c\n", "exit_code": 0},
}


@pytest.mark.parametrize(
    ("pattern", "value", "met"),
    [
        pytest.param(1, 1, True, id="an equal number"),
        pytest.param(1, 1.0, True, id="an equal number, written otherwise"),
        pytest.param(1, True, False, id="true is not 1"),
        pytest.param(None, None, True, id="null"),
        pytest.param("a", "ab", False, id="part of a text"),
        pytest.param(["a", 1], ["a", 1], True, id="an equal list"),
        pytest.param(["a"], ["a", 1], False, id="part of a list"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, True, id="some of the fields"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True, id="some of the fields, deeper"),
        pytest.param({"a": 1, "b": 3}, {"a": 1, "b": 2}, False, id="one field that differs"),
        pytest.param({"c": None}, {"a": 1}, False, id="a field that is not there is not null"),
        pytest.param({"a": 1}, "a", False, id="an object asked of a text"),
        pytest.param({"contains": "b"}, "abc", True, id="a text that contains it"),
        pytest.param({"contains": "b"}, ["a", "b"], True, id="a list that contains it"),
        pytest.param({"contains": {"n": 1}}, [{"n": 1, "m": 2}], True, id="a list with an object like it"),
        pytest.param({"contains": "1"}, 11, False, id="a number contains nothing"),
        pytest.param({"contains": 1}, "11", False, id="a text contains no number"),
        pytest.param({"not": 0}, 1, True, id="not equal"),
        pytest.param({"not": {"contains": "b"}}, "abc", False, id="not containing"),
        pytest.param({"a": {"not": 1}}, {}, False, id="a field that is not there is not met by not"),
        pytest.param({"not": 1, "contains": 2}, {"not": 1, "contains": 2}, True, id="fields of those names"),
    ],
)
def test_a_pattern_is_met_by_what_is_like_it(pattern: JsonValue, value: JsonValue, *, met: bool) -> None:
    assert matches(pattern, value) is met


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        pytest.param([{"error_code": "TOOL_TIMEOUT"}], TIMEOUT, id="one of the outcomes"),
        pytest.param([{"tool": "bash"}, {"tool": "slow"}], LISTING, id="each by another: that of the first"),
        pytest.param([{"tool": "bash"}, {"tool": "none"}], None, id="one of them by nothing"),
        pytest.param([{"tool": "bash", "tool_success": False}], None, id="half by one and half by another"),
        pytest.param([], None, id="no pattern"),
    ],
)
def test_each_pattern_must_be_met_by_one_outcome(patterns: list[Pattern], found: OutcomeView | None) -> None:
    assert first_match(patterns, [TIMEOUT, LISTING]) == found
