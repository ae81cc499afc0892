"""A run whose tool calls somebody approves or denies while it is at work."""

from abc import abstractmethod

from temporalio import workflow

from surefoot.events import Event
from surefoot.run import APPROVE_UPDATE, DENY_UPDATE, Approve, Deny
from workflows.approvals import Approvals
from workflows.refusal import refuse_for


class Approvable:
    """The updates `approve` and `deny`, and the approvals that they are about."""

    _updates: int

    def __init__(self) -> None:
        super().__init__()
        self._approvals = Approvals(self._record)

    @abstractmethod
    def _record(self, event: Event) -> None:
        """Add an event to the ledger."""

    @workflow.update(
        name=APPROVE_UPDATE,
        description="Let a tool call be made that waits for approval. Takes "
        '{"tool_exec_id": "3-1", "params_sha256": "…"} as the event approval_requested has them; optional: '
        '"scope": "run" for all calls of the tool, "params" to call it with instead, and "by". '
        'Where the event says "signed", "token", too: `surefoot approve … --print` prints it all.',
    )
    def approve(self, request: Approve) -> None:
        """Let one call be made, or all of its tool for the rest of the run."""
        self._updates += 1
        self._approvals.approve(request)

    @approve.validator
    def _check_approve(self, request: Approve) -> None:
        refuse_for(self._approvals.why_not_approve(request))

    @workflow.update(
        name=DENY_UPDATE,
        description="Have a tool call not be made that waits for approval; the model is told TOOL_DENIED and "
        'the reason. Takes {"tool_exec_id": "3-1", "params_sha256": "…", "reason": "…"} and, optional, "by"; '
        'where the event says "signed", "token", too: `surefoot deny … --print` prints it all.',
    )
    def deny(self, request: Deny) -> None:
        """Have one call not be made."""
        self._updates += 1
        self._approvals.deny(request)

    @deny.validator
    def _check_deny(self, request: Deny) -> None:
        refuse_for(self._approvals.why_not_deny(request))
