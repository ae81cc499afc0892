import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.model_text import read_arguments, scrub, scrub_json_text
from surefoot.strict_json import strict_json

any_text = st.text(st.characters(codec=None))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner) | st.dictionaries(any_text, inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(any_text)
def test_scrubbed_text_can_be_encoded(text: str) -> None:
    carried = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert scrub(text).encode().decode() == carried


def test_two_halves_that_came_one_after_the_other_are_the_character_they_stand_for() -> None:
    assert scrub("a\ud83d" + "\ude00\ud83d") == "a😀\ufffd"


@settings(deadline=None)
@given(st.text())
def test_whole_text_is_left_alone(text: str) -> None:
    assert scrub(text) == text


@settings(deadline=None)
@given(json_values, st.booleans())
def test_scrubbed_json_is_what_every_payload_converter_can_carry(value: JsonValue, escaped: bool) -> None:
    strict_json(scrub_json_text(json.dumps(value, ensure_ascii=escaped)))


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        pytest.param(r'"\ud83d\ude00"', r'"\ud83d\ude00"', id="a pair"),
        pytest.param(r'"\uD83D\uDE00"', r'"\uD83D\uDE00"', id="a pair in capitals"),
        pytest.param(r'"\ud83d"', r'"\ufffd"', id="its first half"),
        pytest.param(r'"\ude00\ud83d"', r'"\ufffd\ufffd"', id="both halves in the wrong order"),
        pytest.param(r'"\ud83d\ud83d\ude00"', r'"\ufffd\ud83d\ude00"', id="a half before a pair"),
        pytest.param(r'"\\ud83d"', r'"\\ud83d"', id="an escaped backslash before letters"),
        pytest.param(r'"\\\ud83d"', r'"\\\ufffd"', id="an escaped backslash before a half"),
        pytest.param(r'"\ud7ff\ue000\n\""', r'"\ud7ff\ue000\n\""', id="escapes that are no surrogates"),
    ],
)
def test_only_half_pairs_are_replaced(text: str, scrubbed: str) -> None:
    assert scrub_json_text(text) == scrubbed


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param('{"a": 1}', {"a": 1}, id="an object"),
        pytest.param("", {}, id="nothing"),
        pytest.param(" \n", {}, id="blanks"),
        pytest.param('"a"', '"a"', id="a string"),
        pytest.param("null", "null", id="null"),
        pytest.param('{"a"', '{"a"', id="half an object"),
        pytest.param("{'a': 1}", "{'a': 1}", id="single quotes"),
        pytest.param('{"a": "\ud800"}', {"a": "\ufffd"}, id="a lone surrogate"),
        pytest.param("\ud800", "\ufffd", id="a lone surrogate alone"),
    ],
)
def test_arguments_are_an_object_or_their_text(text: str, arguments: JsonValue) -> None:
    assert read_arguments(text) == arguments
