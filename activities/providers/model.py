"""The model of a real provider: what it is asked for a reply, and what its answer amounts to."""

import logging
from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model as DirectModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModelSettings
from pydantic_ai.settings import ModelSettings

from activities.draft import Draft
from activities.interface import LlmTurnResult
from activities.model import DraftingModel, ModelContextOverflowError, ModelUnavailableError
from activities.providers.asking import Question, Questioner
from activities.providers.caching import prompt_cache_key, takes_cache_keys, with_cache_point
from activities.providers.errors import Asked, UnreadableBody, provider_failures, sort_failure
from activities.providers.form import well_formed
from activities.providers.messages import native_messages, offered_tools, prompted_messages
from activities.providers.reply import broke_off, filled_window, native_reply, prompted_reply, usage
from activities.providers.settings import ProviderSettings
from surefoot.conversation import AssistantMessage, Message
from surefoot.model_text import scrub
from surefoot.run import Protocol
from surefoot.summarising import count_turns
from surefoot.usage import Usage

_MAX_NAME_CHARACTERS = 200

_log = logging.getLogger(__name__)


class ProviderModel:
    """Asks one model of one provider; made by `open_provider_model`, and safe to ask side by side."""

    def __init__(self, model: DirectModel, *, protocol: Protocol, settings: ProviderSettings) -> None:
        self._model = model
        self._questioner = Questioner(model, streams=settings.streaming)
        self._protocol: Protocol = protocol
        self._timeout_seconds = settings.request_timeout.total_seconds()
        self._asked = Asked(model.system, model.model_name, settings.secrets)
        self._cache_keys = takes_cache_keys(model.base_url, settings)

    async def reply(self, messages: Sequence[Message], *, closing: bool) -> LlmTurnResult:
        """Ask for a reply that nobody looks at before it is whole; else as `draft_reply`."""
        return await self.draft_reply(messages, closing=closing, draft=Draft())

    async def draft_reply(self, messages: Sequence[Message], *, closing: bool, draft: Draft) -> LlmTurnResult:
        """Ask once; a reply or a body that nobody can read is a reply with `unreadable`.

        A server that does not stream as it ought to is asked a second time, for the reply as a whole.

        Raises:
            ModelUnavailableError: rate limits, overload, 5xx, timeouts, connections, also in mid-stream.
            ModelContextOverflowError: the conversation, or the reply to it, does not fit the window.
            ModelRefusedError: key, quota, rejected request, unknown model.
        """
        request, parameters = self._request(messages)
        settings = self._settings(messages, closing=closing, tools=bool(parameters.function_tools))
        try:
            question = Question(request, settings, parameters, self._timeout_seconds)
            given = await self._questioner.ask(question, draft)
            response = well_formed(given.response)
        except UnicodeEncodeError:
            # What we sent cannot be encoded: ours to mend, and nothing the provider did.
            raise
        except provider_failures() as error:
            return self._failed(error)
        result = self._read(response, turn=1 + count_turns(messages))
        return result.model_copy(update={"usage": given.lost + result.usage})

    async def close(self) -> None:
        """Close the provider's connections."""
        async with self._model:
            pass

    def _request(self, messages: Sequence[Message]) -> tuple[list[ModelMessage], ModelRequestParameters]:
        match self._protocol:
            case "native":
                native = native_messages(messages, provider=self._asked.provider)
                return with_cache_point(native, provider=self._asked.provider), offered_tools(messages)
            case "prompted":
                return prompted_messages(messages), ModelRequestParameters()

    def _settings(self, messages: Sequence[Message], *, closing: bool, tools: bool) -> ModelSettings:
        settings = OpenAIChatModelSettings(max_retries=0, cache=True)
        if tools:
            settings["tool_choice"] = "none" if closing else "auto"
        if self._cache_keys:
            settings["openai_prompt_cache_key"] = prompt_cache_key(messages)
        return settings

    def _failed(self, error: Exception) -> LlmTurnResult:
        failure = sort_failure(error, self._asked)
        if not isinstance(failure, UnreadableBody):
            # `from None`: what lies beneath may hold whole bodies, and ends in the history.
            raise failure from None
        # For whoever runs a worker; to whoever watches the run, the run itself tells the reason.
        _log.info("%s", failure.reason, exc_info=error)
        reply = AssistantMessage(unreadable=failure.reason)
        return LlmTurnResult(reply=reply, usage=Usage(requests=1), model_name=self._asked.model)

    def _read(self, response: ModelResponse, *, turn: int) -> LlmTurnResult:
        if broke_off(response):
            raise ModelUnavailableError(f"{self._asked.provider} broke off before the end of its reply")
        if filled_window(response):
            reason = f"{self._asked.provider} ran out of the context window of '{self._asked.model}'"
            raise ModelContextOverflowError(f"{reason} within its reply")
        match self._protocol:
            case "native":
                reply = native_reply(response, provider=self._asked.provider, turn=turn)
            case "prompted":
                reply = prompted_reply(response, provider=self._asked.provider, turn=turn)
        name = scrub(response.model_name or self._asked.model)[:_MAX_NAME_CHARACTERS]
        return LlmTurnResult(reply=reply, usage=usage(response), model_name=name)


_: type[DraftingModel] = ProviderModel
