"""What an operator sees of a run beside its history: its current details, and what it is found by."""

import asyncio

from temporalio import workflow

from surefoot.attributes import Numbers
from surefoot.current_details import Budget, current_details
from surefoot.events import (
    Answered,
    ApprovalDenied,
    ApprovalGiven,
    ApprovalRequested,
    Event,
    ModelUnavailable,
    RunFinished,
    RunPaused,
    RunResumed,
    ToolExecutionFailed,
    TurnStarted,
)
from surefoot.limits import Limits
from surefoot.progress import Progress, progress_after
from surefoot.run import RunInput
from surefoot.spent import NOTHING_SPENT, Spent
from workflows.attributes import tell_attributes

_TOLD = (
    Answered,
    TurnStarted,
    ApprovalRequested,
    ApprovalGiven,
    ApprovalDenied,
    ToolExecutionFailed,
    RunPaused,
    ModelUnavailable,
    RunResumed,
    RunFinished,
)


class Visible:
    """Keeps what is shown of one run; nothing of it is shown before it has begun."""

    def __init__(self) -> None:
        self.progress = Progress()
        """Where the run stands; `show` it after a change."""
        self._run: RunInput | None = None
        self._budget: Budget | None = None
        self._is_due = False

    def begin(self, run: RunInput, progress: Progress | None = None) -> None:
        """Show a run from now on; `progress` is that of the run before it in its chain."""
        self._run, self._budget = run, Budget(run.limits, NOTHING_SPENT, turns=0)
        self.show(progress or self.progress)

    def spend(self, limits: Limits, spent: Spent, *, turns: int) -> None:
        """Show what is spent of these limits."""
        self._budget = Budget(limits, spent, turns)
        self.show(self.progress)

    def hear(self, event: Event) -> None:
        """Show what an event of the ledger says; the server's list hears of few."""
        self.show(progress_after(self.progress, event))
        if isinstance(event, _TOLD):
            self._tell()

    def become(self, progress: Progress) -> None:
        """Show that the run is paused, waits, or goes on; the server's list hears of it."""
        self.show(progress)
        self._tell()

    def show(self, progress: Progress) -> None:
        """Show where the run stands now; that costs no history."""
        self.progress = progress
        if self._run is not None and not self._is_due:
            # A turn may end hundreds of calls at once, and begin the next: all of it is shown together.
            self._is_due = True
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self._show)

    def _show(self) -> None:
        self._is_due = False
        if (run := self._run) is not None and (budget := self._budget) is not None:
            details = current_details(self.progress, budget, agent=run.agent_name, model=run.model)
            workflow.set_current_details(details)

    def _tell(self) -> None:
        if self._run is None or not self._run.search_attributes:
            return
        progress, budget = self.progress, self._budget
        tell_attributes(
            Numbers(
                agent=self._run.agent_name,
                status=progress.status,
                turns=progress.turn,
                failures=progress.failures,
                error_codes=progress.error_codes if self._run.error_codes_attribute else (),
                last_error_code=progress.last_failure and progress.last_failure.error_code,
                cost=budget.spent.usage.cost if budget else None,
            )
        )
