"""What an output is told of the run that it shows, because the run's ledger does not know it."""

from typing import NotRequired, TypedDict


class FollowedRun(TypedDict):
    """Names a run; `ui_url` is None where nobody knows the UI's address."""

    workflow_id: str
    run_id: str | None
    ui_url: str | None
    model: str
    queue: NotRequired[str | None]
    """The task queue, to be named when nobody serves it."""
    prompt: NotRequired[str]
    """What was asked, for somebody who did not ask it."""
