"""Tells people of what happens in a run, if they asked for it; what comes of that never changes the run."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import ActivityError

from activities.interface import NOTIFY_PEOPLE
from surefoot.events import Event
from surefoot.notice import Notice, notice_of
from surefoot.run import RunInput
from surefoot.summary import shorten

_ATTEMPT = timedelta(seconds=30)
_IN_ALL = timedelta(minutes=3)
_ATTEMPTS = RetryPolicy(initial_interval=timedelta(seconds=1), backoff_coefficient=10, maximum_attempts=3)


class Notices:
    """The notices of one run; nobody is told of anything before it has begun."""

    def __init__(self) -> None:
        self._run: RunInput | None = None
        self._number = 0
        self._telling: list[asyncio.Task[None]] = []

    def begin(self, run: RunInput) -> None:
        """Tell what the input asks for, from now on."""
        self._run = run

    def hear(self, event: Event) -> None:
        """Begin to tell people of an event, if that is one of which they are to be told."""
        if self._run is None or not self._run.notify:
            return
        info = workflow.info()
        notice = notice_of(
            event,
            number=self._number + 1,
            workflow_id=info.workflow_id,
            run_id=info.run_id,
            agent=self._run.agent_name,
        )
        if notice is not None and notice.what in self._run.notify:
            self._number += 1
            self._telling.append(asyncio.create_task(_tell(notice, self._number)))

    async def told(self) -> None:
        """Wait until people are told, or cannot be; a run that is cancelled meanwhile waits all the same."""
        if not self._telling:
            return
        try:
            await workflow.wait_condition(self._are_told)
        except asyncio.CancelledError:
            # A run is cancelled once at most. What else ends a wait is not the run's business.
            if workflow.cancellation_reason() is None:
                raise
            await workflow.wait_condition(self._are_told)

    def _are_told(self) -> bool:
        return all(telling.done() for telling in self._telling)


async def _tell(notice: Notice, number: int) -> None:
    try:
        await workflow.execute_activity(
            NOTIFY_PEOPLE,
            notice,
            activity_id=f"notice-{number}",
            result_type=RawValue,
            start_to_close_timeout=_ATTEMPT,
            schedule_to_close_timeout=_IN_ALL,
            retry_policy=_ATTEMPTS,
            summary=shorten(f"{notice.what}: {notice.text}"),
        )
    except ActivityError as error:
        reason = str(error.cause) if error.cause is not None else str(error)
        workflow.logger.warning("nobody was told", extra={"what": notice.what, "reason": reason})
