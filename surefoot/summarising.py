"""Older turns replaced by a summary of them that a model writes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surefoot.conversation import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    message_bytes,
)

LEAST_SUMMARY_BYTES = 1024
MOST_SUMMARY_BYTES = 16 * 1024

_SUMMARY = (
    "To make room, {turns} of this conversation were replaced by the following summary of them. What it says "
    "was done has been done: look before you do it again.\n\n"
)


@dataclass(frozen=True)
class Split:
    """A conversation in three parts: what never goes, what a summary can stand for, and the newest turns."""

    opening: tuple[Message, ...]
    """The system message and the first prompt."""
    older: tuple[Message, ...]
    newest: tuple[Message, ...]

    @property
    def turns(self) -> int:
        """How many turns the older messages are, those of an earlier summary included."""
        return count_turns(self.older)


def count_turns(messages: Sequence[Message]) -> int:
    """Count the model's replies, also those that a summary stands for."""
    return sum(_turns(message) for message in messages)


def opening_of(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Give what never goes: the system message and the first prompt."""
    match tuple(messages[:2]):
        case (SystemMessage(), UserMessage(purpose="prompt")) as opening:
            return opening
        case (SystemMessage() as system, *_):
            return (system,)
        case _:
            return ()


def split_for_summary(messages: Sequence[Message], *, target_bytes: int) -> Split | None:
    """Part the older turns from the newest ones, as many of which stay as fit half of the target.

    Half of what the opening leaves of it, that is: a long first prompt never goes.

    At least the newest turn stays. A turn is never parted: a call and its outcome are on the same side. None
    when there is no older turn.
    """
    opening = opening_of(messages)
    groups = list(_groups(messages[len(opening) :]))
    first = _first_kept(groups, (target_bytes - _size(opening)) // 2)
    older = tuple(message for group in groups[:first] for message in group)
    if not any(isinstance(message, AssistantMessage) for message in older):
        return None
    newest = tuple(message for group in groups[first:] for message in group)
    return Split(opening, older, newest)


def summary_bytes(target_bytes: int) -> int:
    """Tell how long a summary may be in a conversation that is to have this size."""
    return min(max(target_bytes // 8, LEAST_SUMMARY_BYTES), MOST_SUMMARY_BYTES)


def summarised(split: Split, summary: str) -> tuple[Message, ...]:
    """Give the conversation with its older turns replaced by what a model said of them."""
    turns = f"{split.turns} earlier turn{'' if split.turns == 1 else 's'}"
    told = UserMessage(
        text=_SUMMARY.format(turns=turns) + summary, purpose="summary", summarised_turns=split.turns
    )
    return (*split.opening, told, *split.newest)


def _groups(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Part messages where the model replies; what stands before its first reply is a group, too."""
    group: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and group:
            yield group
            group = []
        group.append(message)
    if group:
        yield group


def _first_kept(groups: Sequence[Sequence[Message]], room_bytes: int) -> int:
    first = max(len(groups) - 1, 0)
    used_bytes = sum(_size(group) for group in groups[first:])
    while first > 0 and (used_bytes := used_bytes + _size(groups[first - 1])) <= room_bytes:
        first -= 1
    return first


def _size(messages: Sequence[Message]) -> int:
    return sum(message_bytes(message) for message in messages)


def _turns(message: Message) -> int:
    match message:
        case AssistantMessage():
            return 1
        case UserMessage(summarised_turns=turns):
            return turns
        case SystemMessage() | ToolMessage():
            return 0
