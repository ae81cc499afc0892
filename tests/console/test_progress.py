from collections.abc import Sequence
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from console.progress import Progress, advance
from surefoot.events import Event
from surefoot.failures import crashed
from surefoot.ledger import reduce_events
from surefoot.outcome import ToolFailure, ToolSuccess
from tests.console.runs import answered, at, ended, finished, replied, scheduled, started, turn

_OUTCOMES = st.sampled_from([answered("bash", "ok"), crashed("bash", 1)])


def _run(turns: Sequence[Sequence[ToolSuccess | ToolFailure]]) -> list[Event]:
    events: list[Event] = [started()]
    for number, outcomes in enumerate(turns, 1):
        events += [turn(number, number), replied(number, number, "", *[("bash", None)] * len(outcomes))]
        names = [f"{number}-{n}" for n in range(1, len(outcomes) + 1)]
        events += [scheduled(name, "bash", number) for name in names]
        for name, outcome in zip(names, outcomes, strict=True):
            events += ended(name, "bash", number, outcome, since=number)
    return [*events, finished(99, answer="done")]


@given(st.lists(st.lists(_OUTCOMES, max_size=4), max_size=4), st.integers(0, 100))
def test_the_counts_are_those_of_the_ledger(turns: list[list[ToolSuccess | ToolFailure]], shown: int) -> None:
    events = _run(turns)[:shown]

    progress = reduce(advance, events, Progress())

    ledger = reduce_events(events)
    over = [execution for execution in ledger.executions if execution.outcome is not None]
    counts = (progress.turn, progress.executions, progress.failed_executions, progress.finished)
    assert counts == (ledger.turn, len(over), ledger.failed, ledger.finished)


@given(st.lists(st.lists(_OUTCOMES, max_size=4), max_size=4), st.integers(0, 100))
def test_every_call_of_the_turn_waits_or_is_in_flight_or_has_ended(
    turns: list[list[ToolSuccess | ToolFailure]], shown: int
) -> None:
    progress = reduce(advance, _run(turns)[:shown], Progress())

    if progress.finished is None:
        known = progress.not_scheduled + len(progress.in_flight) + progress.ended_in_turn
        assert known == len(progress.asked)


def test_a_call_that_ends_keeps_what_was_sent_for_it_and_when_it_started() -> None:
    events = [
        turn(1, 1),
        replied(1, 2, "", ("bash", {"command": "ls"})),
        scheduled("1-1", "bash", 2),
        *ended("1-1", "bash", 5, answered("bash", "ok"), since=3),
    ]

    call = reduce(advance, events, Progress()).ended

    assert call is not None
    assert (call.params, call.since, call.execution.ended_at) == (
        {"command": "ls"},
        at(3),
        at(5),
    )
