"""The limits of a run, as far as its history knows them."""

from temporalio import workflow

from surefoot.limits import Limits
from surefoot.spent import Spent

_FAILURES_IN_A_ROW = "failures-in-a-row"
_NEVER = 1_000_000


def known_limits(limits: Limits, spent: Spent) -> Limits:
    """Give the limits that decide about the next step."""
    if spent.streaks.beyond(limits.failures_in_a_row) is None:
        return limits
    # A run from before this limit may have gone on where it would end now, and must be replayed as it was.
    # Asked only here, so that no other run has the mark of it in its history.
    if workflow.patched(_FAILURES_IN_A_ROW):
        return limits
    return limits.model_copy(update={"failures_in_a_row": _NEVER})
