"""Carries out the model's turns: each sends only what is new, and is retried while time may heal it."""

from collections.abc import Callable

from temporalio import workflow

from activities.interface import LLM_TURN, LlmTurnInput, LlmTurnResult
from surefoot.conversation import Conversation, Message, Prefix, fit
from surefoot.events import (
    Event,
    ModelReplied,
    TurnStarted,
)
from surefoot.masking import Masks
from surefoot.run import RunInput
from surefoot.sizes import MAX_NEW_MESSAGES_BYTES
from surefoot.usage import Usage
from workflows.patience import patiently
from workflows.payloads import typed


class ModelTurns:
    """The model's turns of one run; their events go to `record`."""

    def __init__(self, record: Callable[[Event], None]) -> None:
        self._record = record
        self.given = Prefix()
        """How much of the conversation the model has been given, its own replies included."""
        self.usage = Usage()
        self.masks: Masks = {}
        """What people are not shown of the calls that it asks for."""

    def go_on(self, given: Prefix, usage: Usage) -> None:
        """Go on where the run before this one in its chain ended."""
        self.given, self.usage = given, usage

    def next_turn(self, run: RunInput, conversation: Conversation, *, closing: bool) -> LlmTurnInput:
        """Give the turn that comes next, with what is new in it."""
        new_messages = conversation.between(self.given.length, conversation.prefix.length)
        return LlmTurnInput(
            turn=conversation.turns + 1,
            model=run.model,
            protocol=run.protocol,
            prefix=self.given,
            new_messages=_that_travel(new_messages),
            conversation=conversation.prefix,
            closing=closing,
            cost_limited=run.limits.max_cost is not None,
            redact=self.masks,
        )

    async def ask(
        self, run: RunInput, conversation: Conversation, *, closing: bool, again: int = 0
    ) -> LlmTurnResult:
        """Ask the model for its next reply; on a closing turn it must answer without tools.

        `again` tells how many times the same turn was asked before with a conversation that was too long.

        Raises:
            ActivityError: the model refused, or stayed away longer than the run's patience.
            UndecodableError: the worker that asked answered with something else than a reply.
        """
        turn = self.next_turn(run, conversation, closing=closing)
        if not again:
            self._record(TurnStarted(time=workflow.now(), turn=turn.turn))
        raw = await patiently(
            LLM_TURN,
            turn,
            run,
            activity_id=f"turn-{turn.turn}-shorter-{again}" if again else f"turn-{turn.turn}",
            summary=_summary(turn.turn, run.model, conversation.prefix.length - self.given.length),
        )
        result = typed(raw, LlmTurnResult)
        reply = result.reply
        self.usage += result.usage
        self.given = conversation.append(reply).prefix
        self._record(
            ModelReplied(
                time=workflow.now(),
                turn=turn.turn,
                text=reply.text,
                tool_calls=reply.tool_calls,
                redact={
                    call.tool: self.masks[call.tool] for call in reply.tool_calls if call.tool in self.masks
                },
            )
        )
        return result


def _that_travel(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return messages if fit(messages, MAX_NEW_MESSAGES_BYTES) else ()


def _summary(turn: int, model: str, new: int) -> str:
    # A script is named by its whole path, and people know it by its file.
    kind, _, name = model.partition(":")
    known_as = f"{kind}:{name.rpartition('/')[-1]}" if kind == "scripted" else model
    return f"turn {turn} · {known_as} · {new} new message{'' if new == 1 else 's'}"
