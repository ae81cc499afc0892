import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.summary import MAX_SUMMARY_CHARACTERS, shorten, summarize_params
from tests.surefoot.arbitrary import JSON_VALUES, TEXTS


@pytest.mark.parametrize(
    ("params", "summary"),
    [
        pytest.param({}, "", id="none"),
        pytest.param({"command": "ls -la src/"}, "ls -la src/", id="a single text stands alone"),
        pytest.param({"limit": 3}, "limit=3", id="a single number is named"),
        pytest.param({"a": "x", "b": [1, None]}, 'a="x", b=[1, null]', id="several are named"),
        pytest.param({"a": "é\n b"}, "é b", id="on one line"),
        pytest.param({"a": "x\ny", "b": 1}, 'a="x\\ny", b=1', id="a line break among several"),
        pytest.param({"a": "x" * 200}, "x" * 119 + "…", id="shortened"),
        pytest.param({"a": "\ud800", "b": "\ud800"}, 'a=" ", b=" "', id="without lone surrogates"),
    ],
)
def test_arguments_are_told_on_one_line(params: dict[str, JsonValue], summary: str) -> None:
    assert summarize_params(params) == summary


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        pytest.param("abc", 3, "abc", id="exactly the limit"),
        pytest.param("abcd", 3, "ab…", id="one more"),
        pytest.param(" a \t\r\n b ", 9, "a b", id="white space in one"),
        pytest.param("\n" * 5_000 + "echo", 9, "echo", id="after much white space"),
        pytest.param("a" + " " * 5_000 + "b", 9, "a b", id="around much white space"),
        pytest.param("a " * 5_000_000, 5, "a a …", id="very much text"),
        pytest.param("\x1b[31mred\x07\0", 20, "[31mred", id="control characters"),
        pytest.param("a\u2028b\x85c", 9, "a b c", id="line breaks of other alphabets"),
    ],
)
def test_text_is_shortened_to_one_line(text: str, limit: int, line: str) -> None:
    assert shorten(text, limit) == line


@given(params=st.dictionaries(TEXTS, JSON_VALUES, max_size=4))
def test_a_summary_is_one_short_line(params: dict[str, JsonValue]) -> None:
    summary = summarize_params(params)
    assert len(summary) <= MAX_SUMMARY_CHARACTERS
    assert len(summary.splitlines()) <= 1
