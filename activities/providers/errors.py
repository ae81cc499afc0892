"""What went wrong with a provider, sorted by who can act on it: time, nobody, or the model."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from httpx2 import HTTPError
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.exceptions import ModelUnavailableError as ProviderUnavailableError

from activities.model import ModelContextOverflowError, ModelRefusedError, ModelUnavailableError
from activities.providers.overflow import is_overflow, tokens_told, window_told
from surefoot.model_text import scrub

MAX_REASON_CHARACTERS = 400
LONGEST_RETRY_AFTER = timedelta(days=1)

_FAILURES: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
    ArithmeticError,
    HTTPError,
)
_CLIENTS = {"openai": "OpenAIError", "anthropic": "AnthropicError"}

_RETRYABLE_STATUS = frozenset({408, 409, 425, 429})
_KEY = re.compile(r"\b(?:(?:sk|pk|gsk|xai)[-_]|Bearer )[\w.*-]{6,}", re.IGNORECASE)
_MAX_CAUSE_CHARACTERS = 160


@dataclass(frozen=True)
class UnreadableBody:
    """The provider answered, and not in its own protocol."""

    reason: str


@dataclass(frozen=True)
class Asked:
    """Who was asked, for messages about it."""

    provider: str
    model: str
    secrets: Sequence[str] = ()


def provider_failures() -> tuple[type[Exception], ...]:
    """Give what comes out of pydantic-ai: its own errors, a client's, and what odd bodies trip over in it."""
    return (*_FAILURES, *client_errors())


def client_errors() -> tuple[type[Exception], ...]:
    """Give the errors of the providers' clients that are loaded; the others cannot have raised any.

    To name them all would load them all, and each takes a second.
    """
    found = (getattr(sys.modules.get(name), error, None) for name, error in _CLIENTS.items())
    return tuple(error for error in found if error)


def sort_failure(
    error: Exception, asked: Asked
) -> ModelUnavailableError | ModelRefusedError | UnreadableBody:
    """Say what a failed request means; every reason is one line, short, and holds no key."""
    match error:
        case ModelAPIError():
            return _sort_api_error(error, asked)
        case UserError():
            return ModelRefusedError(_line(f"{asked.provider}: {error}", asked))
        case HTTPError():
            return ModelUnavailableError(_line(f"{asked.provider} broke off: {_told(error)}", asked))
        case _:
            reason = f"the provider answered in another form than its protocol's ({_told(error)})"
            return UnreadableBody(_line(reason, asked))


def _sort_api_error(
    error: ModelAPIError, asked: Asked
) -> ModelUnavailableError | ModelRefusedError | UnreadableBody:
    told = _told(error)
    if is_overflow(error, told):
        line = _line(f"{asked.provider} {_too_long(asked)}{_status(error)}: {told}", asked)
        return ModelContextOverflowError(line, window_told(error, told), tokens_told(error, told))
    line = _line(f"{asked.provider} {_what(error, asked)}{_status(error)}: {told}", asked)
    match error:
        case ModelQuotaExceededError() | ModelRequestRejectedError():
            return ModelRefusedError(line)
        case ModelRateLimitError() | ProviderUnavailableError() | ModelServerError() | ModelConnectionError():
            return ModelUnavailableError(line, retry_after=_retry_after(error))
        case ModelHTTPError(status_code=status) if 400 <= status < 500 and status not in _RETRYABLE_STATUS:
            return ModelRefusedError(line)
        case _ if _redirects(error):
            return ModelRefusedError(line)
        case _ if _is_undecodable(error):
            return UnreadableBody(_line(f"the provider's answer is not JSON ({_told(error)})", asked))
        case _:
            return ModelUnavailableError(line, retry_after=_retry_after(error))


def _what(error: ModelAPIError, asked: Asked) -> str:
    match error:
        case ModelAuthenticationError():
            return "refused the key"
        case ModelNotFoundError():
            return f"does not know the model '{asked.model}' (or the address is wrong)"
        case ModelQuotaExceededError():
            return "says that the account's quota is used up"
        case ModelRateLimitError():
            return "limits the rate of requests"
        case ModelTimeoutError() | ModelRequestTimeout():
            return "did not answer in time"
        case ModelConnectionError():
            return "cannot be reached"
        case ModelRequestRejectedError():
            return "rejected the request"
        case _ if _redirects(error):
            return "redirects the request; its address is not right"
        case _:
            return "failed"


def _too_long(asked: Asked) -> str:
    return f"cannot fit the conversation into the context window of '{asked.model}'"


def _status(error: ModelAPIError) -> str:
    return f" ({error.status_code})" if isinstance(error, ModelHTTPError) else ""


def _told(error: BaseException) -> str:
    """Find the provider's own words, or the innermost cause."""
    if isinstance(error, ModelHTTPError):
        return _message(error.body) or "it gave no reason"
    while error.__cause__ is not None:
        error = error.__cause__
    first_line = str(error).partition("\n")[0][:_MAX_CAUSE_CHARACTERS]
    return first_line if isinstance(error, ModelAPIError) else f"{type(error).__name__}: {first_line}"


def _message(body: object) -> str:
    match body:
        case str():
            return body
        case {"message": str(message)} | {"error": str(message)} | {"detail": str(message)}:
            return message
        case {"error": {"message": str(message)}}:
            return message
        case _:
            return repr(body) if body else ""


def _redirects(error: ModelAPIError) -> bool:
    status = getattr(error.__cause__, "status_code", None)
    return isinstance(status, int) and 300 <= status < 400


def _is_undecodable(error: ModelAPIError) -> bool:
    undecodable = isinstance(error.__cause__, ValueError)
    return undecodable or error.message.startswith("Expected a JSON response")


def _retry_after(error: ModelAPIError) -> timedelta | None:
    if error.retry_after is None:
        return None
    return timedelta(seconds=min(error.retry_after, LONGEST_RETRY_AFTER.total_seconds()))


def _line(reason: str, asked: Asked) -> str:
    for secret in asked.secrets:
        reason = reason.replace(secret, "***")
    line = " ".join(_KEY.sub("***", scrub(reason)).split())
    return line if len(line) <= MAX_REASON_CHARACTERS else f"{line[: MAX_REASON_CHARACTERS - 1]}…"
