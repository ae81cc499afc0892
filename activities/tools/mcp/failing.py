"""Why a connection over HTTP failed, out of the groups of errors in which the SDK raises it."""

from typing import cast

import httpx2

from activities.tools.mcp.endings import CannotStartError


def never_sent(error: BaseException) -> bool:
    """Whether no connection was made at all, so that nothing can have arrived."""
    return isinstance(_first(error), httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol)


def reason_of(error: BaseException) -> str:
    """Say in one phrase what went wrong."""
    first = _first(error)
    text = str(first)
    return f"{text} ({type(first).__name__})" if text else type(first).__name__


def unreachable(error: BaseException) -> CannotStartError:
    """Give the same as a reason for which there is no session."""
    if isinstance(first := _first(error), CannotStartError):
        return first
    return CannotStartError(f"its server cannot be reached: {reason_of(error)}")


def _first(error: BaseException) -> BaseException:
    if not isinstance(error, BaseExceptionGroup):
        return error
    return _first(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
