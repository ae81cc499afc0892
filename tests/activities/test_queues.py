from datetime import UTC, datetime, timedelta

import pytest
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.testing import ActivityEnvironment, WorkflowEnvironment

from activities.interface import QueueQuestion
from activities.queues import QueueActivities, listeners_at
from surefoot.listeners import QueueListeners

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds_ago", "listeners"),
    [
        pytest.param([], QueueListeners(recent=0), id="nobody"),
        pytest.param([70], QueueListeners(recent=1, silent_seconds=70), id="just within the time"),
        pytest.param([70.1], QueueListeners(recent=0, silent_seconds=70.1), id="just past the time"),
        pytest.param([200, 5, 65], QueueListeners(recent=2, silent_seconds=5), id="some of them lately"),
        pytest.param([-0.5], QueueListeners(recent=1, silent_seconds=0), id="after the question was put"),
    ],
)
def test_who_asked_within_70_seconds_listens(seconds_ago: list[float], listeners: QueueListeners) -> None:
    assert listeners_at(NOW, [NOW - timedelta(seconds=ago) for ago in seconds_ago]) == listeners


async def test_a_server_that_cannot_tell_is_no_error_of_a_worker(time_skipping: WorkflowEnvironment) -> None:
    ask = QueueActivities(time_skipping.client).describe_queue

    with pytest.raises(ApplicationError) as told:
        await ActivityEnvironment().run(ask, QueueQuestion(queue="q"))

    assert (told.value.non_retryable, told.value.category) == (True, ApplicationErrorCategory.BENIGN)
