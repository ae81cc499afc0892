"""The `llm_turn` activity: gives a model the conversation, and the workflow its reply."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from inspect import isawaitable

from pydantic import ValidationError
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.conversations import Conversations
from activities.draft import Draft
from activities.heartbeats import BeatIntervals, beating
from activities.interface import (
    CONTEXT_OVERFLOW,
    LLM_TURN,
    MODEL_REFUSED,
    MODEL_UNAVAILABLE,
    LlmTurnInput,
    LlmTurnResult,
)
from activities.model import (
    Model,
    ModelContextOverflowError,
    ModelKeyMissingError,
    ModelRefusedError,
    ModelUnavailableError,
    drafted,
)
from surefoot.context import Overflow
from surefoot.conversation import AssistantMessage, Conversation, message_bytes
from surefoot.sizes import MAX_ERROR_BYTES, MAX_REPLY_BYTES, count
from surefoot.truncation import truncate

OpenModel = Callable[[LlmTurnInput, int], Model | Awaitable[Model]]
"""Gives the model that a turn names; the number is the attempt, counted from 1.

It is called on the event loop, on which tools beat: what takes long, such as reading a file or importing a
provider's client, is awaited.
"""


async def opened(open_model: OpenModel, turn: LlmTurnInput) -> Model:
    """Open the model of a turn for the activity that is running."""
    model = open_model(turn, activity.info().attempt)
    return await model if isawaitable(model) else model


class LlmTurns:
    """The model's turns that this worker takes."""

    def __init__(
        self, open_model: OpenModel, *, conversations: Conversations, intervals: BeatIntervals
    ) -> None:
        self._open_model = open_model
        self._conversations = conversations
        self._intervals = intervals

    @activity.defn(name=LLM_TURN)
    async def llm_turn(self, turn: LlmTurnInput) -> LlmTurnResult:
        """Ask the model for its next reply.

        Raises:
            ApplicationError: MODEL_UNAVAILABLE and CONVERSATION_UNAVAILABLE may heal, MODEL_REFUSED not,
                and CONTEXT_OVERFLOW only if less is said.
        """
        draft = Draft()
        # Also what is still empty is told: the server would go on showing what an attempt before had written.
        async with beating(self._intervals, draft.written):
            conversation = await self._conversations.of_turn(turn)
            try:
                result = await self._reply(turn, conversation, draft)
            except ApplicationError:
                # Whoever takes the turn again, or makes the conversation smaller, finds it here.
                self._conversations.remember(conversation)
                raise
        self._conversations.remember(conversation.append(result.reply))
        return result

    async def _reply(self, turn: LlmTurnInput, conversation: Conversation, draft: Draft) -> LlmTurnResult:
        with told_to_the_run():
            model = await opened(self._open_model, turn)
            messages = conversation.messages
            return _carried(await drafted(model, messages, closing=turn.closing, draft=draft))


@contextmanager
def told_to_the_run() -> Generator[None]:
    """Turn what a model raises into what Temporal carries."""
    try:
        yield
    except ModelUnavailableError as error:
        raise ApplicationError(
            _sentence(error), type=MODEL_UNAVAILABLE, next_retry_delay=error.retry_after
        ) from None
    except ModelKeyMissingError as error:
        raise ApplicationError(_sentence(error), type=MODEL_UNAVAILABLE) from None
    except ModelContextOverflowError as error:
        told = Overflow(window_tokens=error.window_tokens, tokens=error.tokens)
        raise ApplicationError(_sentence(error), told, type=CONTEXT_OVERFLOW, non_retryable=True) from None
    except ModelRefusedError as error:
        raise _refused(_sentence(error)) from None
    except UnicodeError as error:
        raise _refused(f"the conversation cannot be sent to the model: {error}") from error


def _carried(result: LlmTurnResult) -> LlmTurnResult:
    """The result as the workflow will read it, once it is sure that Temporal can carry it.

    The SDK would take an encoding error, and an answer above the server's limit, for something to try again.
    The model is told of a reply that is too large, as of any that cannot be read.
    """
    try:
        carried = LlmTurnResult.model_validate_json(result.model_dump_json())
    except ValidationError as error:
        raise ModelRefusedError(f"the model's reply cannot be carried: {error.errors()[0]['msg']}") from None
    except ValueError as error:
        raise ModelRefusedError(f"the model's reply cannot be carried: {error}") from None
    size = message_bytes(carried.reply)
    if size > MAX_REPLY_BYTES:
        reason = f"it is {size:,} bytes, above the limit of {count(MAX_REPLY_BYTES)}"
        return carried.model_copy(update={"reply": AssistantMessage(unreadable=reason)})
    return carried


def _sentence(error: ModelUnavailableError | ModelRefusedError) -> str:
    """The reason without what no failure can carry: lone surrogates, and megabytes of a provider's page."""
    return truncate(error.reason, MAX_ERROR_BYTES).text


def _refused(reason: str) -> ApplicationError:
    return ApplicationError(reason, type=MODEL_REFUSED, non_retryable=True)
