"""How a run says no to an update: nothing of it reaches the history."""

from temporalio import workflow
from temporalio.exceptions import ApplicationError


def refuse_for(reason: str | None) -> None:
    """Refuse the update that is being validated, in words; None is no reason to.

    Raises:
        ApplicationError: of the type REFUSED, also while the whole run is being cancelled.
    """
    if workflow.cancellation_reason() is not None:
        raise ApplicationError("the whole run is being cancelled", type="REFUSED")
    if reason is not None:
        raise ApplicationError(reason, type="REFUSED")
