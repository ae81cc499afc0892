import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.context import Context, Counted, Overflow, target_bytes, tokens_in
from surefoot.usage import Usage

COUNTED = st.builds(Counted, tokens=st.integers(0, 10**7), size_bytes=st.integers(0, 10**8))
SIZES = st.integers(0, 10**8)


@pytest.mark.parametrize(
    ("size_bytes", "counted", "window_tokens", "full"),
    [
        pytest.param(10**9, Counted(), None, False, id="a window that is not known"),
        pytest.param(2_403, Counted(), 1_000, True, id="just above 80 %, at three bytes a token"),
        pytest.param(2_400, Counted(), 1_000, False, id="80 %, at three bytes a token"),
        pytest.param(4_000, Counted(tokens=801, size_bytes=4_000), 1_000, True, id="what was counted"),
        pytest.param(
            4_000, Counted(tokens=400, size_bytes=2_000), 1_000, False, id="an estimate of the rest"
        ),
        pytest.param(4_010, Counted(tokens=400, size_bytes=2_000), 1_000, True, id="a larger rest"),
        pytest.param(
            9_000, Counted(tokens=1, size_bytes=8_000), 100, True, id="a provider that hardly counts"
        ),
    ],
)
def test_a_conversation_is_full_above_four_fifths_of_its_window(
    size_bytes: int, counted: Counted, window_tokens: int | None, full: bool
) -> None:
    assert Context(window_tokens=window_tokens, counted=counted).is_full(size_bytes) is full


@pytest.mark.parametrize(
    ("window_tokens", "target"),
    [
        pytest.param(4_000, 11_000, id="half of what it leaves of the window"),
        pytest.param(None, 11_000, id="half of the rest, with no window known"),
        pytest.param(3_000, 10_000, id="a window that it fills alone"),
    ],
)
def test_what_never_goes_is_no_part_of_what_shrinks(window_tokens: int | None, target: int) -> None:
    assert target_bytes(12_000, window_tokens=window_tokens, fixed_bytes=10_000) == target


@pytest.mark.parametrize(
    ("counted", "window_tokens", "target"),
    [
        pytest.param(Counted(), 1_000, 1_500, id="half of the window"),
        pytest.param(
            Counted(tokens=1_000, size_bytes=5_000), 1_000, 2_500, id="half, as the provider counts"
        ),
        pytest.param(Counted(), None, 6_000, id="half of the conversation, with no window known"),
        pytest.param(Counted(), 10**6, 7_500, id="no more than five eighths, whatever the window"),
    ],
)
def test_a_conversation_shrinks_to_half(counted: Counted, window_tokens: int | None, target: int) -> None:
    assert target_bytes(12_000, window_tokens=window_tokens, counted=counted) == target


@given(counted=COUNTED, size_bytes=SIZES, window_tokens=st.integers(1, 10**7))
def test_what_has_shrunk_to_its_target_is_not_full(
    counted: Counted, size_bytes: int, window_tokens: int
) -> None:
    target = target_bytes(size_bytes, window_tokens=window_tokens, counted=counted)
    context = Context(window_tokens=window_tokens, counted=counted)
    assert not context.after_compaction(round(target / counted.bytes_per_token), target).is_full(target)


@given(counted=COUNTED, smaller=SIZES, larger=SIZES)
def test_a_longer_conversation_never_has_fewer_tokens(counted: Counted, smaller: int, larger: int) -> None:
    few, many = sorted((smaller, larger))
    assert tokens_in(few, counted) <= tokens_in(many, counted)


def test_what_a_provider_counted_is_what_counts() -> None:
    known = Context().after_reply(Usage(requests=1, input_tokens=900, output_tokens=100), 2_000, 4_000)
    assert (known.window, known.tokens_in(4_000), known.tokens_in(4_400)) == (2_000, 1_000, 1_100)
    silent = known.after_reply(Usage(requests=1), None, 8_000)
    assert (silent.window, silent.tokens_in(4_000)) == (2_000, 1_000)


def test_the_window_that_a_provider_tells_counts_before_what_is_published() -> None:
    refused = Context(window_tokens=10_000).after_overflow(
        Overflow(window_tokens=4_000, tokens=5_000), 20_000
    )
    assert (refused.window, refused.tokens_in(20_000), refused.is_full(20_000)) == (4_000, 5_000, True)
    later = refused.after_reply(Usage(requests=1, input_tokens=10, output_tokens=1), 10_000, 100)
    assert later.window == 4_000


def test_what_was_refused_without_a_word_has_at_least_the_tokens_of_the_window() -> None:
    refused = Context(window_tokens=10_000).after_overflow(Overflow(), 300)
    assert refused.tokens_in(300) == 10_000


def test_a_conversation_that_cannot_be_made_small_is_left_alone_until_it_has_grown() -> None:
    context = Context(window_tokens=1_000).after_compaction(900, 4_000)
    assert [context.is_full(size) for size in (4_000, 4_222, 4_223)] == [False, False, True]
    beyond = Context(window_tokens=1_000).after_compaction(1_200, 4_800)
    assert [beyond.is_full(size) for size in (4_800, 6_000, 6_001)] == [False, False, True]
