import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.conversation import UserMessage, message_bytes
from surefoot.pages import page_of

EMPTY_BYTES = message_bytes(UserMessage(text=""))
MESSAGES = st.lists(st.text(max_size=40).map(lambda text: UserMessage(text=text)))


def said(*sizes_bytes: int) -> list[UserMessage]:
    """Messages of these sizes as JSON."""
    return [UserMessage(text="x" * (size - EMPTY_BYTES)) for size in sizes_bytes]


@pytest.mark.parametrize(
    ("sizes_bytes", "limit_bytes", "taken"),
    [
        pytest.param([], 200, 0, id="nothing"),
        pytest.param([160, 160], 320, 2, id="exactly the limit"),
        pytest.param([160, 161], 320, 1, id="a byte above the limit"),
        pytest.param([900], 200, 1, id="the first one, whatever its size"),
        pytest.param([900, 160], 200, 1, id="only the first one when it is too large"),
        pytest.param([160, 900, 160], 330, 1, id="none after one that does not fit"),
    ],
)
def test_a_page_takes_from_the_front_what_fits(sizes_bytes: list[int], limit_bytes: int, taken: int) -> None:
    messages = said(*sizes_bytes)
    assert page_of(messages, limit_bytes) == tuple(messages[:taken])


@given(messages=MESSAGES, limit_bytes=st.integers(0, 500))
def test_all_pages_together_are_the_whole(messages: list[UserMessage], limit_bytes: int) -> None:
    pages: list[UserMessage] = []
    while len(pages) < len(messages):
        page = page_of(messages[len(pages) :], limit_bytes)
        assert len(page) == 1 or sum(map(message_bytes, page)) <= limit_bytes
        pages.extend(page)
    assert pages == messages


def test_a_page_stays_below_what_the_server_warns_about() -> None:
    page = page_of(said(*[1_000] * 2_000))
    assert sum(map(message_bytes, page)) == 393_000
