"""What makes a provider find the beginning of a conversation in its prompt cache."""

import hashlib
from collections.abc import Sequence
from urllib.parse import urlsplit

from pydantic_ai.messages import CachePoint, ModelMessage, ModelRequest, ModelResponse, UserPromptPart

from activities.providers.settings import ProviderSettings
from surefoot.conversation import Message, SystemMessage, UserMessage

_OPENAI_HOST = "api.openai.com"
_KEY_CHARACTERS = 32

_ANTHROPIC = "anthropic"
# Anthropic looks no more than 20 blocks back from its mark for what it has cached.
_LOOKED_BACK_BLOCKS = 18


def takes_cache_keys(base_url: str | None, settings: ProviderSettings) -> bool:
    """Tell whether requests may carry OpenAI's `prompt_cache_key`: some servers refuse fields of others."""
    if settings.openai_cache_keys is not None:
        return settings.openai_cache_keys
    return base_url is not None and urlsplit(base_url).hostname == _OPENAI_HOST


def prompt_cache_key(messages: Sequence[Message]) -> str:
    """Give what brings all requests of one run to the machine that has them cached.

    It is of the system message and the first prompt, which stay when older turns are summarised.
    """
    digest = hashlib.sha256()
    for message in messages[:2]:
        match message:
            case SystemMessage(text=text, tools=tools):
                digest.update("\n".join([text, *(tool.name for tool in tools)]).encode())
            case UserMessage(text=text):
                digest.update(text.encode())
            case _:
                pass
    return digest.hexdigest()[:_KEY_CHARACTERS]


def with_cache_point(request: Sequence[ModelMessage], *, provider: str) -> list[ModelMessage]:
    """Give a request in which Anthropic finds what it cached last, also after a turn of many calls.

    Its mark stands at the end of the request. Behind a turn of ten calls and their results, what it cached
    for the request before is out of its sight, and a second mark is set there.
    """
    messages = list(request)
    replies = [at for at, message in enumerate(messages) if isinstance(message, ModelResponse)]
    if provider != _ANTHROPIC or not replies:
        return messages
    before = messages[replies[-1] - 1]
    new_blocks = sum(len(message.parts) for message in messages[replies[-1] :])
    if isinstance(before, ModelRequest) and new_blocks > _LOOKED_BACK_BLOCKS:
        mark = UserPromptPart(content=[CachePoint()])
        messages[replies[-1] - 1] = ModelRequest(parts=[*before.parts, mark])
    return messages
