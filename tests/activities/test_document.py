import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from activities.document import NotADocumentError, read_document, scan_document
from surefoot.strict_json import encode_json, strict_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(
            "[true, false, null, ~, 12, -1.5, 1e3]", [True, False, None, None, 12, -1.5, 1e3], id="JSON"
        ),
        pytest.param("[no, on, Yes, True]", ["no", "on", "Yes", "True"], id="words of older YAML"),
        pytest.param(
            "[2024-01-01, 1:30, 0x10, 007]", ["2024-01-01", "1:30", "0x10", "007"], id="dates, bases"
        ),
        pytest.param("[.nan, .inf, 1e999]", [".nan", ".inf", "1e999"], id="numbers that JSON cannot carry"),
        pytest.param("['5', \"true\", 'null']", ["5", "true", "null"], id="what is in quotes"),
        pytest.param("1: a\ntrue: b", {"1": "a", "true": "b"}, id="names of fields"),
        pytest.param(
            "a:\nb: |\n  two\n  lines\n", {"a": None, "b": "two\nlines\n"}, id="nothing, and a block"
        ),
    ],
)
def test_plain_words_mean_what_they_mean_in_json_and_all_others_are_text(text: str, value: JsonValue) -> None:
    assert read_document(text).value == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("# only a comment\n", "line 1: there is nothing in it", id="an empty document"),
        pytest.param(
            "a: 1\n---\nb: 2", "line 2: a second document begins, and there can be one only", id="two"
        ),
        pytest.param("a: 1\na: 2", "line 2: the field 'a' stands twice", id="a field twice"),
        pytest.param(
            "a: 1\nb: {{last}}",
            "line 2: the name of a field must be text; put text that begins with '{{' in quotes",
            id="a template without quotes",
        ),
        pytest.param(
            "a: It said: no",
            "line 1: not YAML: mapping values are not allowed here; put text that holds ': ' in quotes",
            id="a colon without quotes",
        ),
        pytest.param(
            "a:\n\tb: 1",
            "line 2: not YAML: a tab stands where only spaces may",
            id="a tab",
        ),
        pytest.param(
            "a:\n  - &x 1", "line 2: the anchor '&x' is refused: write each value out", id="an anchor"
        ),
        pytest.param("a:\n  - *x", "line 2: the alias '*x' is refused: write the value out", id="an alias"),
        pytest.param(
            "a: !!python/object:os.system x",
            "line 1: the tag 'tag:yaml.org,2002:python/object:os.system' is refused: "
            "put text that looks like something else in quotes",
            id="a tag",
        ),
        pytest.param(
            "a: 1\nb: \x07", "line 2: a character that no text file holds", id="a control character"
        ),
        pytest.param('a: "\\ud800"', "line 1: half a character (a lone surrogate)", id="half a character"),
        pytest.param('"\\ud800": 1', "line 1: half a character (a lone surrogate)", id="half a name"),
        pytest.param("[" * 100_000, "line 1: nested deeper than 50", id="brackets without end"),
    ],
)
def test_what_is_no_plain_document_is_refused_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(NotADocumentError) as caught:
        read_document(text)
    assert str(caught.value) == problem


def test_all_that_is_refused_is_listed_with_its_place_and_the_rest_is_read() -> None:
    document = scan_document("a: &x 1\nb: *x\nc: [{d: !!int 2, d: 3}]\n{{e}}: 4\nf: 5\n")
    assert [(flaw.line, flaw.place) for flaw in document.flaws] == [
        (1, ("a",)),
        (2, ("b",)),
        (3, ("c", 0, "d")),
        (3, ("c", 0, "d")),
        (4, ()),
        (4, ("",)),
    ]
    assert document.value == {"a": 1, "b": None, "c": [{"d": 3}], "f": 5}


def test_a_document_knows_the_line_of_each_value_and_of_what_is_missing() -> None:
    document = read_document("steps:\n  - say: a\n    call:\n      - bash: {command: ls}\n  - say: b\n")
    places = [(), ("steps", 1), ("steps", 0, "call", 0, "bash", "command"), ("steps", 1, "call", 3), ("x",)]
    assert [document.line(place) for place in places] == [1, 5, 4, 5, 1]


@given(st.text("-?:,[]{}#&*!|>'\"%@`\\/ \n\tab01.~\x85\ufeffUxu", max_size=60))
def test_every_text_is_a_document_that_json_can_carry_or_is_refused(text: str) -> None:
    try:
        value = read_document(text).value
    except NotADocumentError:
        return
    assert strict_json(encode_json(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"\\UFFFFFFFF"', id="escape"),
        pytest.param(f"%YAML 1.{'1' * 5_000}\n---\na", id="version"),
    ],
)
def test_what_the_yaml_library_stumbles_over_is_refused(text: str) -> None:
    with pytest.raises(NotADocumentError):
        read_document(text)
