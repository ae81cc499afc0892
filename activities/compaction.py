"""The `compact_context` activity: makes a conversation fit its model's window again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from temporalio import activity

from activities.conversations import Conversations
from activities.heartbeats import BeatIntervals, beating
from activities.interface import COMPACT_CONTEXT, CompactInput, CompactResult
from activities.llm_turn import OpenModel, opened, told_to_the_run
from activities.summaries import Summarizer, first_prompt
from surefoot.compaction import plan, shorten_newest
from surefoot.context import FULL_PERCENT, Counted, target_bytes
from surefoot.conversation import NOTHING_KEPT, Conversation, Message, ToolMessage, message_bytes
from surefoot.summarising import Split, opening_of, summarised
from surefoot.usage import NO_USAGE, Usage

# Beyond this the store has it: each would be in the history once more than what was said in it.
_TRAVELLING_BYTES = 32 * 1024

# A conversation that a provider refused must shrink by more than nothing to be worth another turn.
_PROGRESS_PERCENT = 90


@dataclass(frozen=True)
class _Smaller:
    messages: tuple[Message, ...]
    turns_summarised: int = 0
    summary: str = ""
    usage: Usage = NO_USAGE


class Compaction:
    """The conversations that this worker makes smaller."""

    def __init__(
        self, open_model: OpenModel, *, conversations: Conversations, intervals: BeatIntervals
    ) -> None:
        self._open_model = open_model
        self._conversations = conversations
        self._intervals = intervals

    @activity.defn(name=COMPACT_CONTEXT)
    async def compact_context(self, request: CompactInput) -> CompactResult:
        """Shorten old tool results, then summarise older turns, until half of the window is free.

        Raises:
            ApplicationError: MODEL_UNAVAILABLE and CONVERSATION_UNAVAILABLE may heal, MODEL_REFUSED not.
        """
        turn = request.turn
        async with beating(self._intervals):
            before = await self._conversations.of_turn(turn)
            with told_to_the_run():
                smaller = await self._smaller(request, before.messages)
            after = Conversation().append(*smaller.messages)
            self._conversations.remember(after)
            return await self._result(request, before, after, smaller)

    async def _smaller(self, request: CompactInput, messages: Sequence[Message]) -> _Smaller:
        size_bytes = _size(messages)
        counted = Counted(tokens=request.tokens, size_bytes=size_bytes)
        fixed_bytes = _size(opening_of(messages))
        target = target_bytes(
            size_bytes, window_tokens=request.window_tokens, counted=counted, fixed_bytes=fixed_bytes
        )
        # In a thread: it measures megabytes, while tools here have to beat.
        planned = await asyncio.to_thread(plan, messages, target_bytes=target)
        smaller = _Smaller(planned.shorter.messages)
        if planned.split is not None:
            room = target_bytes(size_bytes, window_tokens=request.window_tokens, counted=counted)
            summed_up = await self._summarised(request, planned.split, room)
            # A summary of little may be longer than what it stands for.
            if _size(summed_up.messages) < planned.shorter.size_bytes:
                smaller = summed_up
            else:
                smaller = replace(smaller, usage=summed_up.usage)
        if _size(smaller.messages) <= _enough_bytes(request.window_tokens, counted, fixed_bytes):
            return smaller
        shortest = await asyncio.to_thread(shorten_newest, smaller.messages, target_bytes=target)
        return replace(smaller, messages=shortest.messages)

    async def _summarised(self, request: CompactInput, split: Split, room_bytes: int) -> _Smaller:
        model = await opened(self._open_model, request.turn)
        summary = await Summarizer(model, first_prompt(split.opening), room_bytes).summary(split.older)
        return _Smaller(summarised(split, summary.text), split.turns, summary.text, summary.usage)

    async def _result(
        self, request: CompactInput, before: Conversation, after: Conversation, smaller: _Smaller
    ) -> CompactResult:
        bytes_before, bytes_after = _size(before.messages), _size(after.messages)
        small = bytes_after <= _TRAVELLING_BYTES
        known = {id(message) for message in before.messages}
        return CompactResult(
            messages=after.messages if small else (),
            kept=NOTHING_KEPT if small else await self._conversations.put(after, NOTHING_KEPT),
            size_bytes=after.size_bytes,
            tokens=round(
                bytes_after / Counted(tokens=request.tokens, size_bytes=bytes_before).bytes_per_token
            ),
            results_shortened=sum(isinstance(m, ToolMessage) and id(m) not in known for m in after.messages),
            turns_summarised=smaller.turns_summarised,
            summary="" if small else smaller.summary,
            bytes_before=bytes_before,
            bytes_after=bytes_after,
            usage=smaller.usage,
        )


def _enough_bytes(window_tokens: int | None, counted: Counted, fixed_bytes: int) -> int:
    """Tell the size up to which the results that the model has not read yet are left alone."""
    progress = fixed_bytes + (counted.size_bytes - fixed_bytes) * _PROGRESS_PERCENT // 100
    if window_tokens is None:
        return progress
    free = max(int(window_tokens * counted.bytes_per_token) - fixed_bytes, 0)
    enough = fixed_bytes + free * FULL_PERCENT // 100
    return enough if counted.tokens < window_tokens else min(enough, progress)


def _size(messages: Sequence[Message]) -> int:
    return sum(message_bytes(message) for message in messages)
