import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.tools.mcp.lines import Lines, Overlong, message_id


class _Taken(list[bytes | Overlong | None]):
    """What came of a stream: lines, what is left of overlong ones, and None for its end."""

    def lines(self, max_bytes: int) -> Lines:
        return Lines(
            on_line=self.append,
            on_overlong=self.append,
            on_end=lambda: self.append(None),
            max_bytes=max_bytes,
        )


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(1, 40))
def test_lines_are_the_same_however_the_stream_is_cut(parts: list[bytes], piece_bytes: int) -> None:
    stream = b"\n".join(parts)
    taken = _Taken()
    lines = taken.lines(1_000)
    for start in range(0, len(stream), piece_bytes):
        lines.feed(stream[start : start + piece_bytes])
    lines.feed(b"")
    assert taken == [*(line for line in stream.split(b"\n")[:-1] if line.strip()), None]


def test_of_an_overlong_line_only_the_ends_are_kept() -> None:
    taken = _Taken()
    lines = taken.lines(20_000)
    lines.feed(b'{"id":7,')
    for _ in range(1_000):
        lines.feed(b"x" * 1_000)
    lines.feed(b"end\nnext\n")
    overlong, following = taken
    assert isinstance(overlong, Overlong)
    assert (overlong.size_bytes, overlong.head[:8], overlong.tail[-4:], following) == (
        1_000_011,
        b'{"id":7,',
        b"xend",
        b"next",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param('{"jsonrpc": "2.0", "id": 7, "result": {', 7, id="behind the version"),
        pytest.param('{"id":7,"result":{', 7, id="first of all"),
        pytest.param('{"result":{},"id":7}', 7, id="last of all"),
        pytest.param('{"result":{},"id":7,"jsonrpc":"2.0"}', 7, id="before a version at the end"),
        pytest.param('{"result":{"id":7}}', None, id="an id inside the answer"),
        pytest.param('{"result":{"id":7,"a":1', None, id="an id inside what was cut"),
        pytest.param("oops", None, id="none"),
    ],
)
def test_what_cannot_be_read_may_still_say_what_it_answers(text: str, found: int | None) -> None:
    assert message_id(text.encode(), text.encode()) == found
