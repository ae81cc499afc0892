"""What an exception of a function tool means for the model: a sentence and one of six codes (seeds/001)."""

from pydantic import ValidationError

from surefoot.schema import place
from surefoot.sizes import MAX_ERROR_BYTES
from surefoot.tool_error import FunctionErrorCode, ToolError
from surefoot.truncation import truncate

_CLIENTS = frozenset({"httpx", "httpx2", "requests", "aiohttp", "urllib3", "urllib"})
"""Packages whose exceptions tell of another service; none of them has to be installed."""

_STATUS_CODES: dict[int, FunctionErrorCode] = {
    400: "invalid_input",
    404: "not_found",
    408: "timeout",
    410: "not_found",
    422: "invalid_input",
    429: "rate_limited",
    504: "timeout",
}


def error_code_of(error: BaseException) -> FunctionErrorCode:
    """Sort an exception."""
    match error:
        case ToolError():
            return error.error_code
        case BaseExceptionGroup(exceptions=(only,)):
            return error_code_of(only)
        case ValidationError():
            return "invalid_input"
        case _ if (status := _status_of(error)) is not None:
            return _STATUS_CODES.get(status, "external_service_error")
        case TimeoutError():
            return "timeout"
        case FileNotFoundError():
            return "not_found"
        case _ if _is_of_a_client(error):
            return "timeout" if "Timeout" in type(error).__name__ else "external_service_error"
        case ConnectionError():
            return "external_service_error"
        case _:
            return "internal_error"


def error_text(error: BaseException) -> str:
    """Say what happened, in at most 2 KB; a bug is told with the name of its exception."""
    match error:
        case BaseExceptionGroup(exceptions=(only,)):
            return error_text(only)
        case ValidationError():
            told = [f"{place(one['loc'])}: {one['msg']}".removeprefix(": ") for one in error.errors()]
            text = "; ".join(told)
        case ToolError():
            text = error.error
        case _ if error_code_of(error) == "internal_error" or not str(error):
            text = f"{type(error).__name__}: {error}".removesuffix(": ")
        case _:
            text = str(error)
    return truncate(text, MAX_ERROR_BYTES).text


def _is_of_a_client(error: BaseException) -> bool:
    packages = {each.__module__.partition(".")[0] for each in type(error).__mro__}
    return bool(packages & _CLIENTS)


def _status_of(error: BaseException) -> int | None:
    """Give the HTTP status that a client's exception tells of, wherever that client keeps it."""
    if not _is_of_a_client(error):
        return None
    response = getattr(error, "response", None)
    told = [getattr(response, name, None) for name in ("status_code", "status")]
    told += [getattr(error, name, None) for name in ("status", "code")]
    return next((status for status in told if type(status) is int and status >= 300), None)
