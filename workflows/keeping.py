"""Lets go of what the model has already been given, once it is too much to carry."""

from dataclasses import replace
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy

from activities.interface import KEEP_CONVERSATION, KeepInput
from surefoot.conversation import Conversation, Kept, Prefix, fit
from surefoot.sizes import MAX_CARRIED_MESSAGES_BYTES
from workflows.payloads import typed

_ATTEMPT = timedelta(minutes=2)
_LONGEST_PAUSE = timedelta(minutes=1)


async def small_enough(conversation: Conversation, given: Prefix, *, queue: str | None) -> Conversation:
    """Give the conversation with no more messages at hand than may be carried; the rest is in the store.

    `queue` is where the run asks its model, None its own. A store that is away is waited for: what was said
    must not be lost.
    """
    if fit(conversation.messages, MAX_CARRIED_MESSAGES_BYTES):
        return conversation
    start = conversation.base.prefix.length
    new = conversation.between(given.length, conversation.prefix.length)
    upto = given if given.length > start and fit(new, MAX_CARRIED_MESSAGES_BYTES) else conversation.prefix
    raw = await workflow.execute_activity(
        KEEP_CONVERSATION,
        KeepInput(base=conversation.base, upto=upto),
        task_queue=queue,
        result_type=RawValue,
        start_to_close_timeout=_ATTEMPT,
        retry_policy=RetryPolicy(maximum_interval=_LONGEST_PAUSE),
        summary=f"messages {start + 1} to {upto.length} into the store",
    )
    messages = conversation.between(upto.length, conversation.prefix.length)
    return replace(conversation, base=typed(raw, Kept), messages=messages)
