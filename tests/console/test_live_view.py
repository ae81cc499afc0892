from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import reduce

from pydantic import JsonValue
from rich.console import Group

from console.live_view import Scene, running_lines, seen
from console.progress import Progress, advance
from surefoot.ledger import Event
from tests.console.runs import (
    at,
    finished,
    replied,
    running,
    scheduled,
    screen,
    snapshot,
    started,
    turn,
    wrote,
)
from workers.snapshot import Snapshot


def _drawn(
    events: Sequence[Event],
    *snapshots: Snapshot,
    seconds: float = 10,
    width: int = 60,
    queue: str | None = None,
) -> list[str]:
    """The lines that are drawn, without their spinners."""
    scene = Scene(model="m", queue=queue, progress=reduce(advance, events, Progress()))
    scene = reduce(seen, snapshots, scene)
    terminal = screen(width=width)
    with terminal.capture() as capture:
        terminal.print(Group(*running_lines(scene, at(10), width=width)))
    return [line[4:] for line in capture.get().splitlines()]


def _calls(count: int, *, in_flight: int) -> list[Event]:
    asked: list[tuple[str, JsonValue]] = [("bash", {"command": f"sleep {n}"}) for n in range(1, count + 1)]
    begin: list[Event] = [started()]
    return [
        *begin,
        turn(1, 0),
        replied(1, 0, "", *asked),
        *(scheduled(f"1-{n}", "bash", 0) for n in range(1, in_flight + 1)),
    ]


def test_a_run_begins_by_starting() -> None:
    assert _drawn([]) == ["starting"]


def test_the_model_is_waited_for_with_the_time_that_it_takes() -> None:
    assert _drawn([started(), turn(3, 7)]) == ["turn 3: asking m  3.0s"]


def test_a_running_call_shows_its_time_and_the_tail_of_its_output() -> None:
    lines = "\n".join(f"line {n}" for n in range(9)) + "\n10%\r\x1b[2K20%"
    look = snapshot(running("1-1", "bash", started_at=at(4), captured=wrote(lines)))

    assert _drawn(_calls(1, in_flight=1), look) == [
        "bash  sleep 1  6.0s",
        "│ line 5",
        "│ line 6",
        "│ line 7",
        "│ line 8",
        "│ 10%",
        "│ ␛[2K20%",
    ]


def test_a_call_that_nobody_took_yet_says_so() -> None:
    look = snapshot(running("1-1", "bash"))

    assert _drawn(_calls(1, in_flight=1), look) == ["bash  sleep 1  10.0s  waits for an executor"]


def test_long_arguments_leave_room_for_the_time() -> None:
    events = [replied(1, 0, "", ("bash", {"command": "x" * 500})), scheduled("1-1", "bash", 0)]

    assert _drawn(events, width=40) == ["bash  " + "x" * 22 + "…  10.0s"]


def test_a_turn_of_2500_calls_shows_the_first_and_counts_the_rest() -> None:
    drawn = _drawn(_calls(2_500, in_flight=32))

    assert drawn == [
        *(f"bash  sleep {n}  10.0s" for n in range(1, 9)),
        "24 more calls running and 2,468 calls waiting",
    ]


def test_a_model_that_did_not_answer_shows_when_it_is_asked_again() -> None:
    retried = running(
        "turn-1", "llm_turn", attempt=4, next_attempt_at=at(10) + timedelta(seconds=70), last_failure="429"
    )

    assert _drawn([turn(1, 0)], snapshot(retried), width=80) == [
        "turn 1: asking m  10.0s",
        "e model did not answer: 429; attempt 4 in 1m 10s",
    ]


def test_a_run_that_nobody_serves_shows_its_queue() -> None:
    drawn = _drawn([], snapshot(served=False), snapshot(served=False), queue="gpu")

    assert drawn == ["starting", " worker answers for this run yet (queue gpu)"]


def test_nothing_is_drawn_of_a_run_that_is_over() -> None:
    assert _drawn([*_calls(2, in_flight=2), finished(5)]) == []


def test_a_call_that_has_ended_is_not_drawn_from_an_older_look() -> None:
    scene = Scene(progress=reduce(advance, _calls(1, in_flight=1), Progress()))
    scene = seen(scene, snapshot(running("1-1", "bash", started_at=at(1))))
    scene = replace(scene, progress=replace(scene.progress, in_flight={}))

    assert "bash" not in "".join(line.plain for line in running_lines(scene, at(10), width=60))
