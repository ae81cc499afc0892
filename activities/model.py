"""The seam between a turn and whoever gives the model's reply."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from activities.draft import Draft
from activities.interface import LlmTurnResult
from surefoot.conversation import Message


class Model(Protocol):
    """Gives the next reply of a conversation."""

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        """Reply to a whole conversation, the system message first; closing = without calling tools.

        Raises:
            ModelUnavailableError: asking again later may help.
            ModelContextOverflowError: asking again with a shorter conversation may help.
            ModelRefusedError: asking again cannot help.
        """
        ...


@runtime_checkable
class DraftingModel(Model, Protocol):
    """A model whose reply can be looked at while it is written."""

    async def draft_reply(self, messages: Sequence[Message], *, closing: bool, draft: Draft) -> LlmTurnResult:
        """Reply as `reply` does, and raise what it raises; until then `draft` takes what has been written."""
        ...


async def drafted(model: Model, messages: Sequence[Message], *, closing: bool, draft: Draft) -> LlmTurnResult:
    """Have a model reply, and `draft` take what it writes, if the model lets anybody look."""
    if isinstance(model, DraftingModel):
        return await model.draft_reply(messages, closing=closing, draft=draft)
    return await model.reply(messages, closing=closing)


@dataclass
class ModelUnavailableError(Exception):
    """The model did not answer, and time may heal it: a rate limit, overload, 5xx, timeout, no connection."""

    reason: str
    retry_after: timedelta | None = None
    """How long the provider asked to wait."""

    def __str__(self) -> str:
        return self.reason


@dataclass
class ModelRefusedError(Exception):
    """The model will not answer however often it is asked: key, quota, rejected request, unknown model."""

    reason: str

    def __str__(self) -> str:
        return self.reason


@dataclass
class ModelContextOverflowError(ModelRefusedError):
    """The conversation does not fit the model's context window."""

    window_tokens: int | None = None
    """The window, if the provider told it."""
    tokens: int | None = None
    """The conversation's length as the provider counted it, if it did."""

    def __str__(self) -> str:
        return self.reason


class ModelKeyMissingError(ModelRefusedError):
    """This worker has no key for the model; another one may have it, or this one after a restart."""
