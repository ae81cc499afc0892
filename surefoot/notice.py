"""What people are told of a run who do not watch it: that it waits for them, or that it has ended."""

from typing import Literal

from surefoot.events import (
    ApprovalRequested,
    Event,
    ModelUnavailable,
    RunFinished,
    RunStatus,
)
from surefoot.run import NoticeKind
from surefoot.summary import shorten_shown, summarize_params
from surefoot.wire import WireModel

_MAX_TEXT_CHARACTERS = 500


class Notice(WireModel):
    """One notice, as a command or a server of the user's gets it."""

    id: str
    """The same however often the notice is delivered, unlike any other's."""
    what: NoticeKind
    workflow_id: str
    run_id: str
    agent: str | None
    status: Literal["waiting"] | RunStatus
    text: str
    """The call that waits, why the model is away, or how the answer or the error begins; on one line."""
    tool_exec_id: str | None = None
    """The call that waits for approval."""
    ui_url: str | None = None
    """The run's page in the UI, where it is known."""


def notice_of(
    event: Event, *, number: int, workflow_id: str, run_id: str, agent: str | None
) -> Notice | None:
    """Give the run's notice of this number on an event; None where nobody is to be told of it."""
    call: str | None = None
    match event:
        case ApprovalRequested():
            what, status, text = "approval", "waiting", _question(event)
            call = event.tool_exec_id
        case ModelUnavailable(reason=reason):
            what, status, text = "waiting", "waiting", reason
        case RunFinished(status=ended, answer=answer, error=error):
            what, status, text = "ended", ended, answer or error or ""
        case _:
            return None
    return Notice(
        id=f"{workflow_id}/{run_id}/{number}",
        what=what,
        workflow_id=workflow_id,
        run_id=run_id,
        agent=agent,
        status=status,
        text=shorten_shown(text, _MAX_TEXT_CHARACTERS),
        tool_exec_id=call,
    )


def _question(event: ApprovalRequested) -> str:
    arguments = summarize_params(event.params, event.redact)
    return f"{event.tool} needs approval ({event.why}){': ' if arguments else ''}{arguments}"
