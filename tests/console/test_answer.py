import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from console.answer import print_answer, print_ending
from console.safe_text import safe_text
from tests.console.runs import Terminal, finished


@pytest.mark.parametrize("answer", [pytest.param(None, id="none"), pytest.param("", id="an empty one")])
def test_no_answer_prints_nothing(answer: str | None) -> None:
    stdout = io.StringIO()

    print_answer(answer, stdout)

    assert stdout.getvalue() == ""


def test_a_program_gets_the_answer_as_it_is() -> None:
    stdout = io.StringIO()

    print_answer("# One\n\x1b[1mtwo\n", stdout)

    assert stdout.getvalue() == "# One\n\x1b[1mtwo\n\n"


def test_a_stream_that_cannot_carry_the_answer_gets_escapes() -> None:
    carried = io.BytesIO()
    stdout = io.TextIOWrapper(carried, encoding="latin-1")

    print_answer("né…", stdout)

    assert carried.getvalue() == b"n\xe9\\u2026\n"


def test_a_terminal_gets_markdown_with_its_line_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stdout = Terminal()

    print_answer("**Files**\na.py\nb.py\n\n[here](https://example.com)", stdout)

    assert [line.rstrip() for line in stdout.getvalue().splitlines()] == [
        "Files",
        "a.py",
        "b.py",
        "",
        "here (https://example.com)",
    ]


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        pytest.param({"n": "\x9b*a*"}, '{"n": "\\u009b*a*"}\n', id="the value on one line, and no markdown"),
        pytest.param([], "[]\n", id="an empty one"),
        pytest.param(0, "0\n", id="zero"),
        pytest.param(None, "what the model wrote\n", id="none: the answer as it is"),
    ],
)
def test_an_answer_that_had_to_fit_a_schema_is_printed_as_its_value(output: JsonValue, printed: str) -> None:
    terminal, ending = Terminal(), finished(1, answer="what the model wrote")

    print_ending(ending.model_copy(update={"output": output}), terminal)

    assert "\n".join(line.rstrip() for line in terminal.getvalue().split("\n")) == printed


@given(st.text(st.sampled_from("a \n\t\x1b\x9b\r\u202e[]()*_`#&;<>|-1238")))
def test_no_markdown_makes_a_terminal_obey(answer: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("TERM", "dumb")
        stdout = Terminal()
        print_answer(answer, stdout)

    assert stdout.getvalue() == safe_text(stdout.getvalue())


def test_a_control_character_that_markdown_names_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stdout = Terminal()

    print_answer("a&#8238;b", stdout)

    assert stdout.getvalue().strip() == "a<U+202E>b"


def test_an_answer_too_long_to_lay_out_is_printed_as_it_is() -> None:
    stdout = Terminal()

    print_answer("**a**" * 30_000, stdout)

    assert stdout.getvalue() == "**a**" * 30_000 + "\n"
