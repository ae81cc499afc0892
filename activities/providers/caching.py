"""What makes a provider find the beginning of a conversation in its prompt cache."""

import hashlib
from collections.abc import Sequence
from urllib.parse import urlsplit

from activities.providers.settings import ProviderSettings
from surefoot.conversation import Message, SystemMessage, UserMessage

_OPENAI_HOST = "api.openai.com"
_KEY_CHARACTERS = 32


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
