"""The `llm_turn` activity: gives a model the conversation, and the workflow its reply."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from pydantic import ValidationError
from temporalio import activity
from temporalio.client import WorkflowQueryFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from activities.conversation_cache import ConversationCache
from activities.heartbeats import BeatIntervals, beating
from activities.interface import LLM_TURN, MODEL_REFUSED, MODEL_UNAVAILABLE, LlmTurnInput, LlmTurnResult
from activities.model import Model, ModelKeyMissingError, ModelRefusedError, ModelUnavailableError
from surefoot.conversation import AssistantMessage, Conversation, Prefix, message_bytes
from surefoot.run import CONVERSATION_QUERY, ConversationPage, ConversationRequest
from surefoot.sizes import MAX_ERROR_BYTES, MAX_REPLY_BYTES, count
from surefoot.truncation import truncate

CONVERSATION_UNAVAILABLE = "CONVERSATION_UNAVAILABLE"
"""The type of an error in fetching the conversation from the run; the turn is tried again."""

_QUERY_TIMEOUT = timedelta(seconds=10)

OpenModel = Callable[[LlmTurnInput, int], Model]
"""Gives the model that a turn names; the number is the attempt, counted from 1. Called in a thread."""


class LlmTurns:
    """The model's turns that this worker takes, and the conversations that it remembers for them."""

    def __init__(self, open_model: OpenModel, *, cache: ConversationCache, intervals: BeatIntervals) -> None:
        self._open_model = open_model
        self._cache = cache
        self._intervals = intervals

    @activity.defn(name=LLM_TURN)
    async def llm_turn(self, turn: LlmTurnInput) -> LlmTurnResult:
        """Ask the model for its next reply.

        Raises:
            ApplicationError: MODEL_UNAVAILABLE and CONVERSATION_UNAVAILABLE may heal, MODEL_REFUSED not.
        """
        async with beating(self._intervals):
            conversation = await self._conversation(turn)
            result = await self._reply(turn, conversation)
        self._cache.keep(_workflow_id(), conversation.append(result.reply))
        return result

    async def _reply(self, turn: LlmTurnInput, conversation: Conversation) -> LlmTurnResult:
        try:
            # In a thread: it may read files, and import for seconds, while tools here have to beat.
            model = await asyncio.to_thread(self._open_model, turn, activity.info().attempt)
            return _carried(await model.reply(conversation.messages, closing=turn.closing))
        except ModelUnavailableError as error:
            raise ApplicationError(
                _sentence(error), type=MODEL_UNAVAILABLE, next_retry_delay=error.retry_after
            ) from None
        except ModelKeyMissingError as error:
            raise ApplicationError(_sentence(error), type=MODEL_UNAVAILABLE) from None
        except ModelRefusedError as error:
            raise _refused(_sentence(error)) from None
        except UnicodeError as error:
            raise _refused(f"the conversation cannot be sent to the model: {error}") from error

    async def _conversation(self, turn: LlmTurnInput) -> Conversation:
        known = self._cache.find(_workflow_id(), turn.prefix)
        if known is not None:
            conversation = known.append(*turn.new_messages)
            if conversation.prefix == turn.conversation:
                return conversation
        return await _fetch(turn.conversation)


async def _fetch(wanted: Prefix) -> Conversation:
    """Ask the run for its conversation, which adds nothing to its history."""
    info = activity.info()
    run = activity.client().get_workflow_handle(_workflow_id(), run_id=info.workflow_run_id)
    conversation = Conversation()
    while len(conversation.messages) < wanted.length:
        request = ConversationRequest(start=len(conversation.messages), end=wanted.length)
        try:
            page = await run.query(
                CONVERSATION_QUERY, request, result_type=ConversationPage, rpc_timeout=_QUERY_TIMEOUT
            )
        except (RPCError, WorkflowQueryFailedError, ValidationError) as error:
            raise _unavailable(f"the run did not give its conversation: {error}") from error
        if not page.messages:
            raise _unavailable("the run gave less of its conversation than it spoke of")
        conversation = conversation.append(*page.messages)
    if len(conversation.messages) > wanted.length:
        raise _unavailable("the run gave more of its conversation than it spoke of")
    # Its digest may differ from the one that the turn was scheduled with: a deploy changed a fixed text in
    # between, and the run was replayed. What the run says now is what it will go on from.
    return conversation


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


def _unavailable(reason: str) -> ApplicationError:
    return ApplicationError(reason, type=CONVERSATION_UNAVAILABLE)


def _workflow_id() -> str:
    return activity.info().workflow_id or ""
