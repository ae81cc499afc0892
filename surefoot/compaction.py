"""What is done to a conversation that does not fit: results first, then older turns, the newest last."""

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.conversation import Message
from surefoot.shortening import KEPT_TURNS, ShorterConversation, shortened
from surefoot.summarising import Split, split_for_summary

# A result that the model has not read yet is cut no more than it takes.
_UNREAD_RESULT_BYTES = (32 * 1024, 8 * 1024, 2 * 1024, 512)


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
    """Cut the results of the newest turns, too, each as little as it takes to reach the target."""
    shorter = ShorterConversation(tuple(messages), 0)
    for result_bytes in _UNREAD_RESULT_BYTES:
        shorter = shortened(messages, target_bytes=target_bytes, keep_turns=0, result_bytes=result_bytes)
        if shorter.size_bytes <= target_bytes:
            break
    return shorter
