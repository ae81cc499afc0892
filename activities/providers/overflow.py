"""Whether a provider refused a conversation for its length, and what it said of its window.

No two servers use the same words: OpenAI and its followers, Anthropic, Gemini, Bedrock, Mistral, Qwen, vLLM,
llama.cpp, Ollama, LM Studio, SGLang and TGI are known here, and any that says that a context is exceeded.
"""

import re
from collections.abc import Mapping
from typing import cast

from pydantic_ai.exceptions import ModelAPIError, ModelContextWindowExceededError, ModelHTTPError

_TOO_LARGE = 413
# Servers of one's own say it with a 422 or a 500; a 429 is mostly about time.
_TELLING = frozenset({400, 413, 422, 500})

_CONTEXT = r"context (?:window|length|size|limit)"
_WORDS = re.compile(
    rf"{_CONTEXT}.{{0,80}}(?:exceed|overflow|too (?:long|large))"
    r"|(?:exceed|longer than|greater than|overflow|too (?:long|large|many)).{0,80}"
    rf"(?:{_CONTEXT}|model length)"
    r"|maximum (?:context|model|prompt) length|(?:prompt|input) is too long|input tokens? (?:count )?exceed"
    r"|token count .{0,40}exceeds|`max_new_tokens` must be <=|reduce the length of|when context the overflows"
    r"|range of input length should be",
    re.IGNORECASE | re.DOTALL,
)
# A limit of tokens for each minute that one request alone is above: no waiting helps.
_ABOVE_A_RATE = re.compile(r"request too large for", re.IGNORECASE)

_NUMBER = r"(\d[\d,]*)"
_WINDOW = re.compile(
    rf"maximum (?:context|model|prompt) length (?:is |of )?{_NUMBER}|{_NUMBER} maximum context length"
    rf"|> {_NUMBER}|{_CONTEXT} (?:of )?(?:only )?\(?{_NUMBER}"
    rf"|tokens allowed \({_NUMBER}\)|must be <= {_NUMBER}"
    rf"|length should be \[\d+, {_NUMBER}\]"
    rf"|limit:? {_NUMBER}, requested",
    re.IGNORECASE,
)
_TOKENS = re.compile(
    r"(?:resulted in|contains|requested|request has|request \(|input \(|token count \(|length|given:) ?"
    rf"{_NUMBER}|{_NUMBER} tokens >",
    re.IGNORECASE,
)
_LEAST_WINDOW, _MOST_WINDOW = 256, 10**9


def is_overflow(error: ModelAPIError, told: str) -> bool:
    """Tell whether the error says that the conversation is too long; `told` is its message."""
    match error:
        case ModelContextWindowExceededError():
            return True
        case ModelHTTPError(status_code=status):
            if status == _TOO_LARGE or _ABOVE_A_RATE.search(told):
                return True
            return status in _TELLING and _WORDS.search(told) is not None
        case _:
            return False


def window_told(error: ModelAPIError, told: str) -> int | None:
    """Give the window that the provider spoke of, in tokens; None if it did not."""
    return _plausible(_field(error, "n_ctx")) or _plausible(_found(_WINDOW, told))


def tokens_told(error: ModelAPIError, told: str) -> int | None:
    """Give how many tokens the provider counted; None if it did not say."""
    return _plausible(_field(error, "n_prompt_tokens")) or _plausible(_found(_TOKENS, told))


def _field(error: ModelAPIError, name: str) -> int | None:
    body = error.body if isinstance(error, ModelHTTPError) else None
    if isinstance(body, Mapping):
        fields = cast(Mapping[str, object], body)
        nested = fields.get("error")
        fields = cast(Mapping[str, object], nested) if isinstance(nested, Mapping) else fields
        if isinstance(value := fields.get(name), int):
            return value
    return None


def _found(pattern: re.Pattern[str], told: str) -> int | None:
    found = pattern.search(told)
    digits = next((group for group in found.groups() if group), "") if found else ""
    return int(digits.replace(",", "")[:12]) if digits else None


def _plausible(tokens: int | None) -> int | None:
    return tokens if tokens is not None and _LEAST_WINDOW <= tokens <= _MOST_WINDOW else None
