"""Gives an activity the conversation that a turn speaks of: from memory, from the store, and from the run."""

import asyncio
import zlib
from datetime import timedelta

from pydantic import TypeAdapter, ValidationError
from temporalio import activity
from temporalio.client import WorkflowQueryFailedError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError

from activities.conversation_cache import ConversationCache
from activities.interface import KEEP_CONVERSATION, KeepInput, LlmTurnInput
from activities.store.store import NotStoredError, Store, StoreUnavailableError, key_part
from surefoot.conversation import Conversation, Kept, Message, Prefix
from surefoot.run import CONVERSATION_QUERY, ConversationPage, ConversationRequest

CONVERSATION_UNAVAILABLE = "CONVERSATION_UNAVAILABLE"
"""The type of an error in getting hold of a conversation; the activity is tried again."""

_QUERY_TIMEOUT = timedelta(seconds=10)

_MESSAGES: TypeAdapter[tuple[Message, ...]] = TypeAdapter(tuple[Message, ...])


class Conversations:
    """The conversations of the runs that this worker serves."""

    def __init__(self, cache: ConversationCache, store: Store) -> None:
        self._cache = cache
        self._store = store

    async def of_turn(self, turn: LlmTurnInput) -> Conversation:
        """Give the whole conversation that the model is to be given in a turn of the activity's run.

        Raises:
            ApplicationError: CONVERSATION_UNAVAILABLE, which may heal.
        """
        whole = self._cache.find(_workflow_id(), turn.conversation)
        if whole is not None:
            return whole
        beginning = self._cache.find(_workflow_id(), turn.prefix)
        if beginning is not None:
            conversation = beginning.append(*turn.new_messages)
            if conversation.prefix == turn.conversation:
                return conversation
        return await self._fetch(turn.conversation)

    def remember(self, conversation: Conversation) -> None:
        """Remember the newest conversation of the activity's run, for its next turn."""
        self._cache.keep(_workflow_id(), conversation)

    @activity.defn(name=KEEP_CONVERSATION)
    async def keep_conversation(self, request: KeepInput) -> Kept:
        """Put what is not kept yet into the store, and name all that is.

        Raises:
            ApplicationError: CONVERSATION_UNAVAILABLE, which may heal.
        """
        known = self._cache.find(_workflow_id(), request.upto)
        conversation = known if known is not None else await self._fetch(request.upto)
        self.remember(conversation)
        return await self.put(conversation, request.base)

    async def put(self, conversation: Conversation, base: Kept) -> Kept:
        """Put a conversation into the store, of which `base` is there already, and name it."""
        start, upto = base.prefix.length, conversation.prefix
        if upto.length == start:
            return base
        key = f"conversations/{key_part(_workflow_id())}/{start}-{upto.length}-{upto.digest[:16]}"
        messages = conversation.between(start, upto.length)
        try:
            # In a thread: it may be many megabytes, while tools here have to beat.
            await self._store.put(key, await asyncio.to_thread(_packed, messages))
        except StoreUnavailableError as error:
            raise _unavailable(str(error)) from error
        return Kept(prefix=upto, keys=(*base.keys, key))

    async def _fetch(self, wanted: Prefix) -> Conversation:
        """Ask the run for its conversation, which adds nothing to its history, and the store for its base."""
        page = await _ask(0, wanted)
        conversation = await self._read(page.base)
        while True:
            conversation = conversation.append(*page.messages)
            if conversation.prefix.length >= wanted.length:
                break
            start = conversation.prefix.length
            page = await _ask(start, wanted)
            if not page.messages:
                raise _unavailable("the run gave less of its conversation than it spoke of")
        if conversation.prefix.length > wanted.length:
            raise _unavailable("the run gave more of its conversation than it spoke of")
        # Its digest may differ from the one that was asked for: a deploy changed a fixed text in between,
        # and the run was replayed. What the run says now is what it will go on from.
        return conversation

    async def _read(self, base: Kept) -> Conversation:
        conversation = Conversation()
        for key in base.keys:
            try:
                messages = await asyncio.to_thread(_unpacked, await self._store.get(key))
            except (NotStoredError, StoreUnavailableError) as error:
                raise _unavailable(str(error)) from error
            except (zlib.error, ValidationError) as error:
                raise _unavailable(f"{key} in the store is damaged: {error}") from error
            conversation = conversation.append(*messages)
        if conversation.prefix != base.prefix:
            raise _unavailable("what the store holds of the conversation is not what was kept")
        return conversation


def _packed(messages: tuple[Message, ...]) -> bytes:
    return zlib.compress(_MESSAGES.dump_json(messages))


def _unpacked(data: bytes) -> tuple[Message, ...]:
    return _MESSAGES.validate_json(zlib.decompress(data))


async def _ask(start: int, wanted: Prefix) -> ConversationPage:
    run = activity.client().get_workflow_handle(_workflow_id(), run_id=activity.info().workflow_run_id)
    request = ConversationRequest(start=start, end=wanted.length)
    try:
        return await run.query(
            CONVERSATION_QUERY, request, result_type=ConversationPage, rpc_timeout=_QUERY_TIMEOUT
        )
    except (RPCError, WorkflowQueryFailedError, ValidationError) as error:
        raise _unavailable(f"the run did not give its conversation: {error}") from error


def _unavailable(reason: str) -> ApplicationError:
    return ApplicationError(reason, type=CONVERSATION_UNAVAILABLE)


def _workflow_id() -> str:
    return activity.info().workflow_id or ""
