"""Conversations that this worker has seen lately, so that a turn need not bring its whole past."""

from collections import OrderedDict
from dataclasses import dataclass

from surefoot.conversation import Conversation, Prefix, message_bytes


@dataclass(frozen=True)
class _Kept:
    conversation: Conversation
    size_bytes: int


class ConversationCache:
    """The newest conversation of each run, within bounds; the least recently used goes first."""

    def __init__(self, *, max_runs: int = 1_000, max_bytes: int = 64 * 1024 * 1024) -> None:
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self.size_bytes = 0

    def find(self, workflow_id: str, prefix: Prefix) -> Conversation | None:
        """Give the conversation if it is exactly the one that the prefix names, by length and digest."""
        if prefix.length == 0:
            return Conversation()
        kept = self._kept.get(workflow_id)
        if kept is None or kept.conversation.prefix != prefix:
            return None
        self._kept.move_to_end(workflow_id)
        return kept.conversation

    def keep(self, workflow_id: str, conversation: Conversation) -> None:
        """Remember the run's conversation in place of an earlier one, unless it alone is above the bound."""
        before = self._kept.pop(workflow_id, None)
        if before is not None:
            self.size_bytes -= before.size_bytes
        size_bytes = _size(conversation, before)
        if size_bytes > self._max_bytes:
            return
        self._kept[workflow_id] = _Kept(conversation, size_bytes)
        self.size_bytes += size_bytes
        while len(self._kept) > self._max_runs or self.size_bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.size_bytes -= oldest.size_bytes


def _size(conversation: Conversation, before: _Kept | None) -> int:
    """Measure only what was said since, when the earlier conversation is the beginning of this one."""
    known = len(before.conversation.messages) if before else 0
    if before is None or conversation.messages[:known] != before.conversation.messages:
        return sum(message_bytes(message) for message in conversation.messages)
    return before.size_bytes + sum(message_bytes(message) for message in conversation.messages[known:])
