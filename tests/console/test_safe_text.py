import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from console.safe_text import safe_text

_CONTROLS = st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"])
_TEXT = st.text(st.one_of(_CONTROLS, st.characters()))
_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(_TEXT)
@example("\x1b]0;owned\x07\x9b2J\r\u202e\ud800")
def test_nothing_but_newline_and_tab_controls_a_terminal(text: str) -> None:
    left = {char for char in safe_text(text) if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}}

    assert left <= {"\n", "\t"}


@given(_TEXT)
def test_no_character_changes_the_direction_of_the_text_after_it(text: str) -> None:
    assert not _DIRECTIONS & {unicodedata.bidirectional(char) for char in safe_text(text)}


@given(_TEXT)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    once = safe_text(text)

    assert safe_text(once) == once


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"])))
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert safe_text(text) == text


def test_what_was_taken_out_can_be_seen() -> None:
    text = "a\x1b[31mred\r\x7f\x9b\u202e\ud800\tb\n"

    assert safe_text(text) == "a␛[31mred␍␡<U+009B><U+202E>\ufffd\tb\n"
