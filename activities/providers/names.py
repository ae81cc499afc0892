"""Model names: which provider and model a `provider:name` stands for, and what it needs."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from typing import Any, get_args

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, OpenAIChatCompatibleProvider, infer_model, known_model_names
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from activities.model import ModelKeyMissingError, ModelRefusedError
from activities.providers.errors import client_errors
from activities.providers.settings import ProviderSettings

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"

# What a client insists on where a server of one's own asks for no key.
_NO_KEY = "not-needed"
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")


def infer(name: str, settings: ProviderSettings) -> Model:
    """Give pydantic-ai's model of that name; providers with settings of ours read no environment.

    Raises:
        ModelRefusedError: with one sentence that names what to write or to set.
    """
    check(name)
    try:
        return infer_model(name, partial(_open_provider, name=name, settings=settings))
    except (UserError, ValueError, *client_errors()) as error:
        raise ModelRefusedError(f"model '{name}' cannot be opened: {_what_is_missing(str(error))}") from None
    except ImportError as error:
        raise ModelRefusedError(_package(name, error)) from None


def check(name: str) -> None:
    """Accept a name of a provider that exists; raises ModelRefusedError with one sentence for any other."""
    provider, _, model = name.partition(":")
    if not (provider and model.strip()):
        known = provider in _provider_names()
        form = f"{provider}:NAME" if known else f"provider:name{_suggestion(provider)}"
        raise ModelRefusedError(f"unknown model '{name}': write it as {form}")
    try:
        infer_provider_class(provider)
    except ValueError:
        reason = f"there is no provider '{provider}'{_suggestion(provider)}"
        raise ModelRefusedError(f"unknown model '{name}': {reason}") from None
    except ImportError as error:
        raise ModelRefusedError(_package(name, error)) from None


def _open_provider(provider: str, *, name: str, settings: ProviderSettings) -> Provider[Any]:
    openers: dict[str, Callable[[str, ProviderSettings], Provider[Any]]] = {
        "openai": _openai,
        "openai-chat": _openai,
        "openai-responses": _openai,
        "anthropic": _anthropic,
    }
    opener = openers.get(provider)
    return opener(name, settings) if opener else infer_provider(provider)


def _openai(name: str, settings: ProviderSettings) -> Provider[Any]:
    from pydantic_ai.providers.openai import OpenAIProvider

    url = _base_url(settings.openai_base_url, variable="OPENAI_BASE_URL")
    key = _key(name, settings.openai_api_key, url, vendor="OPENAI")
    return OpenAIProvider(base_url=url or OPENAI_URL, api_key=key)


def _anthropic(name: str, settings: ProviderSettings) -> Provider[Any]:
    from pydantic_ai.providers.anthropic import AnthropicProvider

    url = _base_url(settings.anthropic_base_url, variable="ANTHROPIC_BASE_URL")
    key = _key(name, settings.anthropic_api_key, url, vendor="ANTHROPIC")
    return AnthropicProvider(base_url=url or ANTHROPIC_URL, api_key=key)


def _base_url(url: str | None, *, variable: str) -> str | None:
    if url and not re.match(r"https?://[^/]", url):
        raise ModelRefusedError(f"{variable} is {url!r}, and must begin with http:// or https:// and a host")
    return url


def _key(name: str, key: str | None, base_url: str | None, *, vendor: str) -> str:
    if key:
        return key
    if base_url:
        return _NO_KEY
    raise ModelKeyMissingError(
        f"model '{name}' needs a key: set {vendor}_API_KEY, "
        f"or {vendor}_BASE_URL for a server that asks for none"
    )


def _suggestion(provider: str) -> str:
    close = get_close_matches(provider, _provider_names(), n=3)
    if close:
        return f"; did you mean {' or '.join(repr(name) for name in close)}?"
    return ", for example openai-chat:NAME, anthropic:NAME or scripted:FILE"


def _provider_names() -> list[str]:
    known = {name.partition(":")[0] for name in known_model_names()}
    names = {"openai", "openai-chat", "openai-responses", "scripted", *known}
    names.update(get_args(OpenAIChatCompatibleProvider.__value__))
    return sorted(name for name in names if not name.startswith("gateway/") and "decisions" not in name)


def _what_is_missing(reason: str) -> str:
    variables = dict.fromkeys(_VARIABLE.findall(reason))
    if reason.startswith("Set the") and variables:
        return f"set {' or '.join(variables)}"
    return reason.split(". ")[0].split("\n")[0]


def _package(name: str, error: ImportError) -> str:
    package = re.search(r"`([\w-]+)` package", str(error))
    missing = f"the package '{package[1]}' is not installed" if package else str(error).split("\n")[0]
    return f"model '{name}' cannot be opened: {missing}"
