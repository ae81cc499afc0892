"""Asking a provider for one reply: in pieces where its server can give them, else as a whole."""

import logging
import time
from dataclasses import dataclass, replace

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import DEFAULT_THINKING_TAGS
from pydantic_ai.settings import ModelSettings

from activities.draft import Draft
from activities.providers.streaming import NotStreamedError, read_stream, tells_its_end
from activities.providers.thinking_tags import tags_read
from surefoot.usage import NO_USAGE, Usage

_LEAST_SECONDS = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """One request to a model."""

    messages: list[ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters
    seconds: float
    """How long it may take, with all that is tried for it."""


@dataclass(frozen=True)
class Given:
    """What a provider gave, and what it cost to ask it in vain before."""

    response: ModelResponse
    lost: Usage = NO_USAGE


class Questioner:
    """Asks one model, and keeps in mind how its server takes it."""

    def __init__(self, model: Model, *, streams: bool) -> None:
        self._model = model
        self._streams = streams

    async def ask(self, question: Question, draft: Draft) -> Given:
        """Ask for a reply; `draft` takes its pieces.

        Raises:
            Exception: whatever pydantic-ai raises for a request that fails.
        """
        if not self._streams:
            return Given(await self._whole(question))
        began = time.monotonic()
        try:
            return Given(await self._streamed(question, draft))
        except NotStreamedError as failed:
            draft.clear()
            left = question.seconds - (time.monotonic() - began)
            response = await self._whole(replace(question, seconds=max(left, _LEAST_SECONDS)))
            if failed.lasting or not tells_its_end(response):
                self._stream_no_more(failed.reason)
            return Given(response, failed.usage)

    async def _whole(self, question: Question) -> ModelResponse:
        return await model_request(
            self._model,
            question.messages,
            model_settings=_timed(question),
            model_request_parameters=question.parameters,
        )

    async def _streamed(self, question: Question, draft: Draft) -> ModelResponse:
        stream = model_request_stream(
            self._model,
            question.messages,
            model_settings=_timed(question),
            model_request_parameters=question.parameters,
        )
        response = await read_stream(stream, draft)
        if response.usage.unmeasured_requests:
            # Without it nobody knows what a run costs, nor how full its window is.
            self._stream_no_more("it does not tell what a streamed reply took")
        if isinstance(self._model, OpenAIChatModel):
            tags = self._model.profile.get("thinking_tags", DEFAULT_THINKING_TAGS)
            return replace(response, parts=tags_read(response.parts, tags, provider=self._model.system))
        return response

    def _stream_no_more(self, reason: str) -> None:
        self._streams = False
        _log.info("%s does not stream: %s; it is asked for whole replies", self._model.model_name, reason)


def _timed(question: Question) -> ModelSettings:
    settings = question.settings.copy()
    # The one is between two pieces, the other for the whole.
    settings["timeout"] = settings["request_timeout"] = question.seconds
    return settings
