import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from surefoot.truncation import Shortened, join_ends, keep_ends, truncate


@st.composite
def repetitive_texts(draw: st.DrawFn) -> str:
    return draw(st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)) * draw(st.integers(1, 2_000))


TEXTS = st.one_of(st.text(st.characters(codec="utf-8"), max_size=400), repetitive_texts())
LIMITS = st.integers(0, 3_000)
MARKER = re.compile(
    r"\n\.\.\. \[([\d,]+) more bytes\] \.\.\.\n\n\[OUTPUT TRUNCATED - exceeded \S+(?: bytes)? limit\]"
)


def size(text: str) -> int:
    return len(text.encode())


@pytest.mark.parametrize(
    ("text", "limit_bytes", "expected"),
    [
        pytest.param("", 0, Shortened("", truncated=False), id="nothing needs no room"),
        pytest.param("abc", 3, Shortened("abc", truncated=False), id="exactly the limit"),
        pytest.param("é" * 10, 20, Shortened("é" * 10, truncated=False), id="the limit is in bytes"),
        pytest.param("abcdef", 4, Shortened("abcd", truncated=True), id="no room for the marker"),
        pytest.param("aéé", 2, Shortened("a", truncated=True), id="no room for half a character"),
        pytest.param("\ud800", 10, Shortened("\ufffd", truncated=False), id="a lone surrogate"),
        pytest.param(
            "x" * 20_070,
            10_240,
            Shortened(
                "x" * 10_170 + "\n... [9,900 more bytes] ...\n\n[OUTPUT TRUNCATED - exceeded 10KB limit]",
                truncated=True,
            ),
            id="the head, the bytes left out and the limit in KB",
        ),
        pytest.param(
            "y" * 200,
            100,
            Shortened(
                "y" * 28 + "\n... [172 more bytes] ...\n\n[OUTPUT TRUNCATED - exceeded 100 bytes limit]",
                truncated=True,
            ),
            id="a limit that is no multiple of 1024",
        ),
    ],
)
def test_truncation_keeps_the_head_and_says_what_it_left_out(
    text: str, limit_bytes: int, expected: Shortened
) -> None:
    assert truncate(text, limit_bytes) == expected


def test_what_was_captured_keeps_its_head_and_its_tail() -> None:
    text = "first " + "x" * 5_000 + " last"
    assert keep_ends(text, 92) == (
        "first xxx\n... [4,993 more bytes] ...\n\n[OUTPUT TRUNCATED - exceeded 92 bytes limit]\nxxxx last"
    )


@given(text=TEXTS, limit_bytes=LIMITS)
@example(text="€" * 5_000, limit_bytes=4_096)
def test_no_shortened_text_exceeds_its_limit(text: str, limit_bytes: int) -> None:
    head, truncated = truncate(text, limit_bytes)
    assert truncated == (size(text) > limit_bytes)
    assert max(size(head), size(keep_ends(text, limit_bytes))) <= limit_bytes


@given(text=TEXTS, limit_bytes=LIMITS)
def test_what_fits_is_left_as_it_is(text: str, limit_bytes: int) -> None:
    fits = size(text) + limit_bytes
    assert (truncate(text, fits), keep_ends(text, fits)) == (Shortened(text, truncated=False), text)


@given(text=TEXTS, limit_bytes=st.integers(80, 3_000))
def test_head_and_bytes_left_out_add_up_to_the_text(text: str, limit_bytes: int) -> None:
    head, left_out, tail = parts(truncate(text, limit_bytes).text)
    assert (text.startswith(head), tail, size(head) + left_out) == (True, "", size(text))


@given(text=TEXTS, limit_bytes=st.integers(80, 3_000))
def test_head_tail_and_bytes_left_out_add_up_to_the_text(text: str, limit_bytes: int) -> None:
    head, left_out, tail = parts(keep_ends(text, limit_bytes))
    ending = tail.removeprefix("\n")
    assert (text.startswith(head), text.endswith(ending)) == (True, True)
    assert size(head) + left_out + size(ending) == size(text)


@given(text=TEXTS, limit_bytes=LIMITS)
def test_the_ends_alone_give_what_the_whole_text_gives(text: str, limit_bytes: int) -> None:
    if size(text) > limit_bytes:
        head, tail = text[: limit_bytes + 1], text[-limit_bytes - 1 :]
        joined = join_ends(head, tail, total_bytes=size(text), limit_bytes=limit_bytes)
        assert joined == keep_ends(text, limit_bytes)


@given(text=st.text(st.characters(), max_size=300), limit_bytes=LIMITS)
def test_no_text_at_all_raises(text: str, limit_bytes: int) -> None:
    assert size(truncate(text, limit_bytes).text) <= limit_bytes
    assert size(keep_ends(text, limit_bytes)) <= limit_bytes


def parts(shortened: str) -> tuple[str, int, str]:
    found = MARKER.search(shortened)
    if found is None:
        return shortened, 0, ""
    return shortened[: found.start()], int(found[1].replace(",", "")), shortened[found.end() :]
