from hypothesis import given
from hypothesis import strategies as st

from console.json_text import json_text
from surefoot.strict_json import strict_json

_TEXT = st.text(st.characters(exclude_categories=["Cs"]))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | _TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXT, inner),
)


@given(_JSON)
def test_the_value_is_unchanged(value: object) -> None:
    assert strict_json(json_text(value)) == value  # pyright: ignore[reportArgumentType]  a JSON value by construction


@given(_JSON)
def test_it_is_one_line_however_lines_are_told(value: object) -> None:
    assert len(json_text(value).splitlines()) == 1  # pyright: ignore[reportArgumentType]  a JSON value by construction


def test_no_control_character_reaches_a_terminal() -> None:
    assert json_text("\x1b\x9b\x7f\u202e") == r'"\u001b\u009b\u007f\u202e"'


def test_other_text_stays_readable() -> None:
    assert json_text({"é": "…"}) == '{"é": "…"}'
