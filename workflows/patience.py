"""Activities that ask a model: retried while time may heal it, and left alone while nobody serves them."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RawValue, RetryPolicy
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    TimeoutError,  # noqa: A004  Temporal's own, and the built-in one never reaches this file
)

from activities.interface import MODEL_UNAVAILABLE
from surefoot.run import RunInput
from surefoot.wire import WireModel

_HEARTBEAT_TIMEOUT = timedelta(seconds=15)

# A run that nobody serves spends its patience too, and must go on when somebody does; a worker that dies
# of a turn again and again must not go on for ever.
_UNHEARD_TRIES = 3


async def patiently(
    activity: str, argument: WireModel, run: RunInput, *, activity_id: str, summary: str
) -> RawValue:
    """Give what the activity answers where the run asks its model.

    Raises ActivityError when it fails for good, or stays away too long.
    """
    tried_id = activity_id
    for again in range(1, _UNHEARD_TRIES):
        try:
            return await _attempt(activity, argument, run, activity_id=tried_id, summary=summary)
        except ActivityError as error:
            if not _was_left_alone(error):
                raise
        tried_id = f"{activity_id}-again-{again}"
    return await _attempt(activity, argument, run, activity_id=tried_id, summary=summary)


async def _attempt(
    activity: str, argument: WireModel, run: RunInput, *, activity_id: str, summary: str
) -> RawValue:
    patience = run.model_patience
    return await workflow.execute_activity(
        activity,
        argument,
        activity_id=activity_id,
        task_queue=run.model_queue,
        result_type=RawValue,
        start_to_close_timeout=timedelta(seconds=patience.attempt_seconds),
        schedule_to_close_timeout=timedelta(seconds=patience.total_seconds),
        heartbeat_timeout=_HEARTBEAT_TIMEOUT,
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=1),
            maximum_interval=timedelta(seconds=patience.longest_pause_seconds),
        ),
        summary=summary,
    )


def _was_left_alone(error: ActivityError) -> bool:
    """Tell whether the patience ran out while workers were away, and not because a provider was."""
    match error.__cause__:
        case TimeoutError(cause=ApplicationError(type=kind)) if kind == MODEL_UNAVAILABLE:
            return False
        case TimeoutError() | ApplicationError(type="WorkerShutdown"):
            return True
        case _:
            return False
