"""Keeps the conversation of a run within its model's context window."""

from collections.abc import Callable
from dataclasses import replace

from pydantic import ValidationError
from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from activities.interface import COMPACT_CONTEXT, CONTEXT_OVERFLOW, CompactInput, CompactResult
from surefoot.context import NOTHING_KNOWN, Context, Overflow
from surefoot.conversation import AssistantMessage, Conversation
from surefoot.events import (
    CompactionReason,
    ContextCompacted,
    Event,
)
from surefoot.run import RunInput
from workflows.model_turns import ModelTurns
from workflows.patience import patiently
from workflows.payloads import typed

# Each makes it smaller, to half as a rule; a provider that still refuses it then refuses anything.
_MOST_OVERFLOWS = 8


class ContextWindow:
    """The model's turns over a conversation that is made to fit.

    Events go to `record`, and each smaller conversation to `go_on_with`, before anybody is asked over it.
    """

    def __init__(
        self,
        model_turns: ModelTurns,
        record: Callable[[Event], None],
        go_on_with: Callable[[Conversation], None],
    ) -> None:
        self._model_turns = model_turns
        self._record = record
        self._go_on_with = go_on_with
        self.known: Context = NOTHING_KNOWN

    async def ask(self, run: RunInput, conversation: Conversation, *, closing: bool) -> AssistantMessage:
        """Ask the model for its next reply.

        Raises:
            ActivityError: the model refused, or stayed away longer than the run's patience.
            ApplicationError: the conversation does not fit the model, however short it is made.
            UndecodableError: the worker that asked answered with something else than a reply.
        """
        if self.known.is_full(conversation.size_bytes):
            conversation = await self._smaller(run, conversation, "full", closing=closing)
        reason = ""
        for again in range(_MOST_OVERFLOWS):
            try:
                result = await self._model_turns.ask(run, conversation, closing=closing, again=again)
            except ActivityError as error:
                if (told := _overflow(error)) is None:
                    raise
                reason = error.__cause__.message if isinstance(error.__cause__, ApplicationError) else ""
            else:
                size_bytes = conversation.append(result.reply).size_bytes
                self.known = self.known.after_reply(result.usage, result.context_window, size_bytes)
                return result.reply
            self.known = self.known.after_overflow(told, conversation.size_bytes)
            smaller = await self._smaller(run, conversation, "overflow", closing=closing)
            if smaller.size_bytes >= conversation.size_bytes:
                break
            conversation = smaller
        raise ApplicationError(f"nothing is left to shorten in a conversation that is too long: {reason}")

    async def _smaller(
        self, run: RunInput, conversation: Conversation, reason: CompactionReason, *, closing: bool
    ) -> Conversation:
        turn = self._model_turns.next_turn(run, conversation, closing=closing)
        if reason == "overflow":
            # What is new in it stands in the history already, in the turn that was refused.
            turn = turn.model_copy(update={"prefix": turn.conversation, "new_messages": ()})
        raw = await patiently(
            COMPACT_CONTEXT,
            CompactInput(
                turn=turn,
                window_tokens=self.known.window,
                tokens=self.known.tokens_in(conversation.size_bytes),
            ),
            run,
            activity_id=f"{COMPACT_CONTEXT}-{workflow.uuid4().hex[:8]}",
            summary=f"before turn {turn.turn} · {_WHY[reason]}",
        )
        result = typed(raw, CompactResult)
        smaller = _after(conversation, result)
        self.known = self.known.after_compaction(result.tokens, smaller.size_bytes)
        self._go_on_with(smaller)
        self._model_turns.go_on(smaller.prefix, self._model_turns.usage + result.usage)
        self._record(
            ContextCompacted(
                time=workflow.now(),
                turn=turn.turn,
                reason=reason,
                results_shortened=result.results_shortened,
                turns_summarised=result.turns_summarised,
                bytes_before=result.bytes_before,
                bytes_after=result.bytes_after,
            )
        )
        return smaller


_WHY: dict[CompactionReason, str] = {
    "full": "the context window is nearly full",
    "overflow": "the conversation is too long for the model",
}


def _after(conversation: Conversation, result: CompactResult) -> Conversation:
    """Give the run's conversation with other messages; what the next step depends on stays."""
    said = Conversation(digest=result.kept.prefix.digest, base=result.kept).append(*result.messages)
    return replace(
        conversation,
        messages=said.messages,
        digest=said.digest,
        base=said.base,
        size_bytes=result.size_bytes,
    )


def _overflow(error: ActivityError) -> Overflow | None:
    match error.__cause__:
        case ApplicationError(type=kind, details=details) if kind == CONTEXT_OVERFLOW:
            try:
                return Overflow.model_validate(details[0] if details else {})
            except ValidationError:
                return Overflow()
        case _:
            return None
