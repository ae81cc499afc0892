import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.tools.capture import StreamCapture
from surefoot.truncation import keep_ends

CHUNKS = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.text(st.characters(codec="utf-8"), max_size=20).map(str.encode),
        st.binary(min_size=1, max_size=3).map(lambda part: part * 50),
    ),
    max_size=20,
)


def capture(*chunks: bytes, ends_bytes: int = 200, whole_bytes: int = 300) -> StreamCapture:
    made = StreamCapture(ends_bytes, whole_bytes=whole_bytes)
    for chunk in chunks:
        made.feed(chunk)
    return made


@given(chunks=CHUNKS, limit_bytes=st.integers(0, 200))
def test_a_stream_is_shown_as_if_it_had_been_kept_whole(chunks: list[bytes], limit_bytes: int) -> None:
    text = b"".join(chunks).decode(errors="replace")
    assert capture(*chunks).shown(limit_bytes) == keep_ends(text, limit_bytes)


@given(chunks=CHUNKS, whole_bytes=st.integers(0, 300))
def test_a_stream_is_whole_until_it_is_too_large(chunks: list[bytes], whole_bytes: int) -> None:
    stream = b"".join(chunks)
    expected = stream if len(stream) <= whole_bytes else None
    made = capture(*chunks, whole_bytes=whole_bytes)
    assert (made.whole(), made.total_bytes) == (expected, len(stream))


@pytest.mark.parametrize(
    ("chunks", "shown"),
    [
        pytest.param([], "", id="nothing yet"),
        pytest.param([b"\xe2", b"\x82", b"\xac"], "€", id="a character in three reads"),
        pytest.param([b"ab\xe2\x82"], "ab\ufffd", id="a character that never came whole"),
        pytest.param([b"a\xff\x00b"], "a\ufffd\x00b", id="not text at all"),
    ],
)
def test_invalid_bytes_are_shown_as_replacement_characters(chunks: list[bytes], shown: str) -> None:
    assert capture(*chunks).shown(100) == shown


def test_reading_a_capture_does_not_disturb_what_comes_next() -> None:
    made = capture(b"\xe2\x82")
    made.shown(100)
    made.feed(b"\xac")
    assert made.shown(100) == "€"


def test_a_limit_above_what_was_kept_counts_as_what_was_kept() -> None:
    made = capture(b"x" * 1_000, ends_bytes=200)
    assert made.shown(500) == made.shown(200)


def test_a_capture_without_ends_shows_nothing() -> None:
    assert capture(b"x" * 1_000, ends_bytes=0).shown(100) == ""


def test_a_hundred_megabytes_take_no_more_than_four() -> None:
    made = StreamCapture(10_240)
    chunk = b"x" * 65_536
    tracemalloc.start()
    for _ in range(1_600):
        made.feed(chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (made.total_bytes, peak < 4 * 1024 * 1024) == (104_857_600, True)
