"""That replays of the recorded histories notice changes that would stop runs, and say what changed."""

import pytest
from temporalio.worker import WorkflowInboundInterceptor

from surefoot.testing.replay import read_history, replay_problem
from tests.replay.changed_code import Around, EarlyEnd, RenamedTurn, Sleeping, SwappedCalls
from tests.replay.history_file import file_of


@pytest.mark.parametrize(
    ("change", "history", "said"),
    [
        pytest.param(
            SwappedCalls,
            "ten-calls-side-by-side",
            "Activity id of scheduled event '1-1' does not match activity id of activity command '1-2'",
            id="two calls in another order",
        ),
        pytest.param(
            RenamedTurn,
            "two-turns",
            "'turn-2' does not match activity id of activity command 'model-2'",
            id="another activity id",
        ),
        pytest.param(
            EarlyEnd,
            "two-turns",
            "Complete workflow machine does not handle this event",
            id="an end where the run had gone on",
        ),
    ],
)
async def test_a_replay_says_which_step_is_another_one(
    change: type[WorkflowInboundInterceptor], history: str, said: str
) -> None:
    problem = await replay_problem(read_history(file_of(history)), interceptors=[Around(change)])

    assert problem is not None
    assert problem.startswith("[TMPRL1100] Nondeterminism error: ")
    assert said in problem


async def test_a_replay_says_that_a_run_begins_with_another_step() -> None:
    problem = await replay_problem(read_history(file_of("answer-at-once")), code=Sleeping)

    assert problem is not None
    assert "Timer machine does not handle this event: HistoryEvent(id: 5, ActivityTaskScheduled)" in problem
