"""Carries out the model's turns: each sends only what is new, and is retried while time may heal it."""

from collections.abc import Callable
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
)

from activities.interface import LLM_TURN, MODEL_UNAVAILABLE, LlmTurnInput, LlmTurnResult
from surefoot.conversation import AssistantMessage, Conversation, Message, Prefix, message_bytes
from surefoot.ledger import Event, ModelReplied, TurnStarted
from surefoot.run import RunInput
from surefoot.sizes import MAX_NEW_MESSAGES_BYTES
from surefoot.usage import Usage
from workflows.payloads import typed

_HEARTBEAT_TIMEOUT = timedelta(seconds=15)

# A run that nobody serves spends its patience too, and must go on when somebody does; a worker that dies
# of a turn again and again must not go on for ever.
_UNHEARD_TRIES = 3


class ModelTurns:
    """The model's turns of one run; their events go to `record`."""

    def __init__(self, record: Callable[[Event], None]) -> None:
        self._record = record
        self.given = Prefix()
        """How much of the conversation the model has been given, its own replies included."""
        self.usage = Usage()

    def go_on(self, given: Prefix, usage: Usage) -> None:
        """Go on where the run before this one in its chain ended."""
        self.given, self.usage = given, usage

    async def ask(self, run: RunInput, conversation: Conversation, *, closing: bool) -> AssistantMessage:
        """Ask the model for its next reply; on a closing turn it must answer without tools.

        Raises:
            ActivityError: the model refused, or stayed away longer than the run's patience.
            UndecodableError: the worker that asked answered with something else than a reply.
        """
        turn = conversation.turns + 1
        self._record(TurnStarted(time=workflow.now(), turn=turn))
        new_messages = conversation.between(self.given.length, conversation.prefix.length)
        raw = await self._execute(
            run,
            LlmTurnInput(
                turn=turn,
                model=run.model,
                protocol=run.protocol,
                prefix=self.given,
                new_messages=_that_travel(new_messages),
                conversation=conversation.prefix,
                closing=closing,
            ),
            summary=_summary(turn, run.model, len(new_messages)),
        )
        result = typed(raw, LlmTurnResult)
        reply = result.reply
        self.usage += result.usage
        self.given = conversation.append(reply).prefix
        self._record(
            ModelReplied(time=workflow.now(), turn=turn, text=reply.text, tool_calls=reply.tool_calls)
        )
        return reply

    async def _execute(self, run: RunInput, turn: LlmTurnInput, *, summary: str) -> RawValue:
        activity_id = f"turn-{turn.turn}"
        for again in range(1, _UNHEARD_TRIES):
            try:
                return await _attempt(run, turn, activity_id=activity_id, summary=summary)
            except ActivityError as error:
                if not _was_left_alone(error):
                    raise
            activity_id = f"turn-{turn.turn}-again-{again}"
        return await _attempt(run, turn, activity_id=activity_id, summary=summary)


async def _attempt(run: RunInput, turn: LlmTurnInput, *, activity_id: str, summary: str) -> RawValue:
    patience = run.model_patience
    return await workflow.execute_activity(
        LLM_TURN,
        turn,
        activity_id=activity_id,
        result_type=RawValue,
        start_to_close_timeout=timedelta(seconds=patience.attempt_seconds),
        schedule_to_close_timeout=timedelta(seconds=patience.total_seconds),
        heartbeat_timeout=_HEARTBEAT_TIMEOUT,
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=1),
            maximum_interval=timedelta(seconds=patience.longest_pause_seconds),
        ),
        summary=summary,
    )


def _was_left_alone(error: ActivityError) -> bool:
    """Tell whether the patience ran out while workers were away, and not because a provider was."""
    match error.__cause__:
        case TimeoutError(cause=ApplicationError(type=kind)) if kind == MODEL_UNAVAILABLE:
            return False
        case TimeoutError() | ApplicationError(type="WorkerShutdown"):
            return True
        case _:
            return False


def _that_travel(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    left_bytes = MAX_NEW_MESSAGES_BYTES
    for message in messages:
        left_bytes -= message_bytes(message)
        if left_bytes < 0:
            return ()
    return messages


def _summary(turn: int, model: str, new: int) -> str:
    # A script is named by its whole path, and people know it by its file.
    kind, _, name = model.partition(":")
    known_as = f"{kind}:{name.rpartition('/')[-1]}" if kind == "scripted" else model
    return f"turn {turn} · {known_as} · {new} new message{'' if new == 1 else 's'}"
