"""Why a run failed, in the words of whatever failed it."""

from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
)


def reason_of(error: BaseException) -> str:
    """Give one sentence: the cause that Temporal wraps says more than the wrapping."""
    match error:
        case ActivityError(cause=ApplicationError(message=message)):
            return message
        case ActivityError(cause=TimeoutError(cause=ApplicationError(message=message))):
            return message
        case ActivityError(cause=cause) if cause is not None:
            return f"{error.activity_type}: {cause}"
        case ApplicationError(message=message):
            return message
        case _:
            return str(error)
