"""What is done to a conversation that does not fit: results first, then older turns, the newest last."""

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.conversation import Message
from surefoot.shortening import KEPT_TURNS, SHORT_RESULT_BYTES, ShorterConversation, shortened
from surefoot.summarising import Split, split_for_summary


@dataclass(frozen=True)
class Plan:
    """A conversation with its old results cut, and what is to be summarised if that is not enough."""

    shorter: ShorterConversation
    split: Split | None


def plan(messages: Sequence[Message], *, target_bytes: int) -> Plan:
    """Shorten old results to reach the target, and choose older turns if they are too long all the same.

    The older turns of the split have their results whole, for whoever writes the summary.
    """
    shorter = shortened(messages, target_bytes=target_bytes, keep_turns=KEPT_TURNS)
    if shorter.size_bytes <= target_bytes:
        return Plan(shorter, None)
    split = split_for_summary(shorter.messages, target_bytes=target_bytes)
    if split is None:
        return Plan(shorter, None)
    start = len(split.opening)
    whole = tuple(messages[start : start + len(split.older)])
    return Plan(shorter, Split(split.opening, whole, split.newest))


def shorten_newest(messages: Sequence[Message], *, target_bytes: int) -> ShorterConversation:
    """Cut the results of the newest turns, too: the model gets as much of them as there is room for."""
    result_bytes = target_bytes
    while True:
        result_bytes = max(result_bytes // 2, SHORT_RESULT_BYTES)
        shorter = shortened(messages, target_bytes=target_bytes, keep_turns=0, result_bytes=result_bytes)
        if shorter.size_bytes <= target_bytes or result_bytes == SHORT_RESULT_BYTES:
            return shorter
