"""A run as operators hold it, let it go on, and raise its limits, while it is at work."""

from abc import abstractmethod
from dataclasses import replace

from temporalio import workflow

from surefoot.carried import Carried
from surefoot.events import (
    Event,
    LimitRaised,
    ModelUnavailable,
    RunPaused,
    RunResumed,
)
from surefoot.inbox import CONTINUES_AS_NEW
from surefoot.limits import Limits
from surefoot.run import PAUSE_UPDATE, RAISE_LIMIT_UPDATE, RESUME_UPDATE, Pause, RaiseLimit, Resume, RunInput
from surefoot.steering import Steering, raised
from workflows.refusal import refuse_for

_FOR_NO_REASON = Pause()
_BY_NOBODY = Resume()


class Controlled:
    """The updates `pause`, `resume` and `raise_limit`, and the state that they are about."""

    def __init__(self) -> None:
        self._steering = Steering()

    @abstractmethod
    def _take_update(self, event: Event) -> None:
        """Count an update that was taken, and record what it did."""

    @abstractmethod
    def _record(self, event: Event) -> None:
        """Add an event to the ledger."""

    @abstractmethod
    def _why_closed(self) -> str | None:
        """Say in a sentence why the run takes nothing any more; None while it does."""

    async def unheld(self) -> None:
        """Wait while something holds the run: without a timer, and for as long as it takes."""
        if self._steering.hold is not None:
            await workflow.wait_condition(lambda: self._steering.hold is None)

    def _limited(self, run: RunInput) -> RunInput:
        """Give the run with the limits that it has now."""
        limits = self._steering.limits or run.limits
        return run if limits is run.limits else run.model_copy(update={"limits": limits})

    def _go_on_held(self, run: RunInput, carried: Carried | None = None) -> None:
        """Begin with the limits of the input, or go on with what is carried."""
        hold, limits = (carried.hold, carried.limits) if carried else (self._steering.hold, None)
        self._steering = Steering(hold=hold, limits=limits or run.limits)

    def _wait_for_model(self, reason: str, *, turn: int) -> None:
        self._steering = self._steering.wait_for_model(reason)
        self._record(ModelUnavailable(time=workflow.now(), turn=turn, reason=reason))

    def _why_not_now(self) -> str | None:
        # What it carries is not known before it has begun.
        if self._steering.limits is None and workflow.info().continued_run_id is not None:
            return CONTINUES_AS_NEW
        return self._why_closed()

    @workflow.update(
        name=PAUSE_UPDATE,
        description="Begin no turn and no tool call until the run is resumed; what runs goes on to its end. "
        'Takes {"reason": "…", "sender": "…"}, both optional.',
    )
    def pause(self, request: Pause = _FOR_NO_REASON) -> None:
        """Hold the run: no turn of the model and no tool call is begun until it is resumed."""
        self._steering = self._steering.pause(request)
        self._take_update(RunPaused(time=workflow.now(), reason=request.reason, sender=request.sender))

    @pause.validator
    def _check_pause(self, request: Pause = _FOR_NO_REASON) -> None:
        refuse_for(self._steering.why_no_pause(request, closed=self._why_not_now()))

    @workflow.update(
        name=RESUME_UPDATE,
        description="Let a run go on that is paused, or that waits for its model. "
        'Takes {"sender": "…"}, which is optional.',
    )
    def resume(self, request: Resume = _BY_NOBODY) -> None:
        """Let the run go on where it was held."""
        self._steering = self._steering.resume()
        self._take_update(RunResumed(time=workflow.now(), sender=request.sender))

    @resume.validator
    def _check_resume(self, request: Resume = _BY_NOBODY) -> None:
        closed = None if self._steering.hold else self._why_not_now()
        refuse_for(closed or self._steering.why_no_resume(request))

    @workflow.update(
        name=RAISE_LIMIT_UPDATE,
        description='Raise limits of the run, such as {"limits": {"max_turns": 80, "max_cost": null}}; '
        "null lifts one. With an optional reason and sender.",
    )
    def raise_limit(self, request: RaiseLimit) -> None:
        """Raise limits from the next turn on."""
        before = self._steering.limits or Limits()
        after = raised(before, request.limits)
        self._steering = replace(self._steering, limits=after)
        self._take_update(
            LimitRaised(
                time=workflow.now(),
                limits=after.model_dump(mode="json", include=set(request.limits)),
                before=before.model_dump(mode="json", include=set(request.limits)),
                reason=request.reason,
                sender=request.sender,
            )
        )

    @raise_limit.validator
    def _check_raise_limit(self, request: RaiseLimit) -> None:
        refuse_for(self._steering.why_no_raise(request, closed=self._why_not_now()))
