from dataclasses import replace
from datetime import timedelta
from functools import reduce

import pytest

from console.notices import Notices, fresh_lines, look, notice_lines
from tests.console.runs import at, running, snapshot
from workers.snapshot import Snapshot

NOW = at(0)
SERVED = snapshot()
UNSERVED = snapshot(served=False)
SECOND_ATTEMPT = running(
    "turn-3",
    "llm_turn",
    attempt=2,
    next_attempt_at=NOW + timedelta(seconds=8),
    last_failure="429:\nslow \x1bdown",
)


def _lines(*snapshots: Snapshot, queue: str | None = None) -> list[str]:
    return list(notice_lines(reduce(look, snapshots, Notices()), queue=queue, now=NOW))


@pytest.mark.parametrize(
    ("snapshots", "lines"),
    [
        pytest.param([UNSERVED], [], id="a worker that may be starting"),
        pytest.param([UNSERVED, UNSERVED], ["no worker answers for this run yet (queue q)"], id="no worker"),
        pytest.param([UNSERVED, UNSERVED, SERVED], [], id="a worker at last"),
        pytest.param(
            [SERVED, UNSERVED, UNSERVED],
            ["no worker answers for this run any more (queue q)"],
            id="a worker that is gone",
        ),
    ],
)
def test_a_run_that_nobody_serves_is_told(snapshots: list[Snapshot], lines: list[str]) -> None:
    assert _lines(*snapshots, queue="q") == lines


@pytest.mark.parametrize(
    ("more", "line"),
    [
        pytest.param(
            {"next_attempt_at": NOW + timedelta(seconds=8), "last_failure": "429:\nslow \x1bdown"},
            "the model did not answer: 429: slow ␛down; attempt 2 in 8.0s",
            id="the next attempt is due",
        ),
        pytest.param(
            {"started_at": NOW, "last_failure": "no connection"},
            "the model did not answer: no connection; attempt 2 is under way",
            id="the next attempt has begun",
        ),
        pytest.param(
            {"next_attempt_at": NOW - timedelta(seconds=1)},
            "the model did not answer; attempt 2 follows",
            id="the next attempt is overdue",
        ),
        pytest.param({}, "the model did not answer; attempt 2 is under way", id="nobody knows why"),
    ],
)
def test_a_model_that_did_not_answer_is_told(more: dict[str, object], line: str) -> None:
    assert _lines(snapshot(running("turn-3", "llm_turn", attempt=2, **more))) == [line]


def test_a_tool_call_is_no_retry_of_the_model() -> None:
    assert _lines(snapshot(running("turn-3", "llm_turn"), running("3-1", "bash", attempt=2))) == []


def test_each_thing_is_fresh_only_once() -> None:
    third = snapshot(running("turn-3", "llm_turn", attempt=3, started_at=NOW))
    looks = [UNSERVED, UNSERVED, UNSERVED, snapshot(SECOND_ATTEMPT), snapshot(SECOND_ATTEMPT), third, SERVED]

    before, fresh = Notices(), list[str]()
    for one in looks:
        after = look(before, one)
        fresh += fresh_lines(before, after, queue=None, now=NOW)
        before = after

    assert fresh == [
        "no worker answers for this run yet",
        "the model did not answer: 429: slow ␛down; attempt 2 in 8.0s",
        "the model did not answer; attempt 3 is under way",
    ]


def test_what_nobody_can_tell_is_said_once() -> None:
    untold = replace(SERVED, unreadable="another release wrote it")
    once = look(Notices(), untold)

    assert list(fresh_lines(Notices(), once, queue=None, now=NOW)) == ["another release wrote it"]
    assert list(fresh_lines(once, look(once, untold), queue=None, now=NOW)) == []
