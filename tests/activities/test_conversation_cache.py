import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.conversation_cache import ConversationCache
from surefoot.conversation import (
    AssistantMessage,
    Conversation,
    Prefix,
    SystemMessage,
    UserMessage,
    message_bytes,
)

START = Conversation().append(SystemMessage(text="s"), UserMessage(text="u"))
REPLIED = START.append(AssistantMessage(text="a"))
ELSEWHERE = START.append(AssistantMessage(text="b"))


def size(conversation: Conversation) -> int:
    return sum(map(message_bytes, conversation.messages))


def holding(**conversations: Conversation) -> ConversationCache:
    cache = ConversationCache()
    for workflow_id, conversation in conversations.items():
        cache.keep(workflow_id, conversation)
    return cache


@pytest.mark.parametrize(
    ("cache", "wanted", "found"),
    [
        pytest.param(holding(), Prefix(), Conversation(), id="the beginning of any run"),
        pytest.param(holding(run=REPLIED), Prefix(), Conversation(), id="a run that begins again"),
        pytest.param(holding(), START.prefix, None, id="a run never seen"),
        pytest.param(holding(other=START), START.prefix, None, id="the same words in another run"),
        pytest.param(holding(run=REPLIED), REPLIED.prefix, REPLIED, id="what was kept"),
        pytest.param(holding(run=REPLIED), START.prefix, None, id="a shorter one: the completion was lost"),
        pytest.param(holding(run=START), REPLIED.prefix, None, id="a longer one: the turn ran elsewhere"),
        pytest.param(holding(run=REPLIED), ELSEWHERE.prefix, None, id="another of the same length"),
        pytest.param(
            holding(run=REPLIED),
            Prefix(length=3, digest=START.digest),
            None,
            id="the right length, and a digest of another",
        ),
        pytest.param(
            holding(run=REPLIED),
            Prefix(length=2, digest=REPLIED.digest),
            None,
            id="the right digest, and a length of another",
        ),
    ],
)
def test_only_exactly_the_conversation_that_was_named_is_found(
    cache: ConversationCache, wanted: Prefix, found: Conversation | None
) -> None:
    assert cache.find("run", wanted) == found


def test_a_newer_conversation_takes_the_place_of_the_older() -> None:
    cache = holding(run=START)
    cache.keep("run", REPLIED)
    assert (cache.find("run", START.prefix), cache.find("run", REPLIED.prefix)) == (None, REPLIED)


def test_the_least_recently_used_run_goes_first() -> None:
    cache = ConversationCache(max_runs=2)
    cache.keep("a", START)
    cache.keep("b", START)
    cache.find("a", START.prefix)
    cache.keep("c", START)
    assert [run for run in "abc" if cache.find(run, START.prefix)] == ["a", "c"]


def test_asking_for_what_is_not_there_saves_no_run() -> None:
    cache = ConversationCache(max_runs=2)
    cache.keep("a", START)
    cache.keep("b", START)
    cache.find("a", REPLIED.prefix)
    cache.keep("c", START)
    assert [run for run in "abc" if cache.find(run, START.prefix)] == ["b", "c"]


def test_a_conversation_above_the_bound_is_not_kept_and_drives_no_other_out() -> None:
    small = Conversation().append(UserMessage(text="x"))
    huge = Conversation().append(UserMessage(text="x" * 1_000))
    cache = ConversationCache(max_bytes=size(small) * 2)
    cache.keep("a", small)
    cache.keep("b", huge)
    assert (cache.find("a", small.prefix), cache.find("b", huge.prefix)) == (small, None)


WORDS = st.integers(0, 60).map(lambda length: UserMessage(text="x" * length))


@given(
    said=st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.lists(WORDS, max_size=3))),
    max_runs=st.integers(1, 3),
    max_bytes=st.integers(0, 400),
)
def test_a_cache_keeps_within_its_bounds_and_knows_its_size(
    said: list[tuple[str, bool, list[UserMessage]]], max_runs: int, max_bytes: int
) -> None:
    cache = ConversationCache(max_runs=max_runs, max_bytes=max_bytes)
    newest: dict[str, Conversation] = {}
    for run, goes_on, messages in said:
        before = newest.get(run, Conversation()) if goes_on else Conversation()
        newest[run] = before.append(*messages)
        cache.keep(run, newest[run])
    held = [one for run, one in newest.items() if one.messages and cache.find(run, one.prefix)]
    assert len(held) <= max_runs
    assert sum(map(size, held)) == cache.size_bytes <= max_bytes
