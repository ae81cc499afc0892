from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import reduce

from pydantic import JsonValue
from rich.console import Group

from activities.interface import Written
from console.live_view import Scene, running_lines, seen
from console.progress import Progress, advance
from surefoot.events import Event
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


def _writing(**written: object) -> Snapshot:
    return snapshot(running("turn-1", "llm_turn", started_at=at(4), written=Written.model_validate(written)))


def test_the_text_of_a_reply_is_shown_by_its_end_while_it_is_written() -> None:
    text = "# Plan\n\n" + "\n".join(f"{n}. do this" for n in range(1, 6)) + "\n6. and then look\x1b[2K there"
    look = _writing(text=text, doing="text", characters=90)

    assert _drawn([turn(1, 4)], look, width=28) == [
        "turn 1: asking m  6.0s",
        "│ 2. do this",
        "│ 3. do this",
        "│ 4. do this",
        "│ 5. do this",
        "│ 6. and then look␛[2K",
        "│ there",
    ]


def test_of_one_long_paragraph_the_end_is_shown() -> None:
    look = _writing(text=" ".join(f"word{n}" for n in range(100)), doing="text", characters=700)

    drawn = _drawn([turn(1, 4)], look, width=46)

    assert (len(drawn), drawn[-1]) == (7, "│ word97 word98 word99")


def test_wide_characters_and_words_without_end_stay_within_the_width() -> None:
    look = _writing(text="漢" * 60 + " " + "x" * 60, doing="text", characters=121)

    lines = _drawn([turn(1, 4)], look, width=40)

    assert lines[1:] == [
        *["│ " + "漢" * 17] * 3,
        "│ " + "漢" * 9 + " " + "x" * 7,
        "│ " + "x" * 34,
        "│ " + "x" * 19,
    ]


def test_what_is_not_shown_of_a_reply_is_counted() -> None:
    reasons = _writing(doing="reasoning", characters=1_234)
    calls = _writing(text="Look:", doing="call", tool="edit\n_file", characters=9_999)

    assert _drawn([turn(1, 4)], reasons)[1:] == ["reasoning, 1,234 characters so far"]
    assert _drawn([turn(1, 4)], calls)[1:] == [
        "│ Look:",
        "writing a call of edit _file, 9,999 characters so far",
    ]


def test_a_reply_that_is_whole_is_not_drawn_from_an_older_look() -> None:
    look = _writing(text="Look:", doing="text", characters=5)

    assert _drawn([turn(1, 4), replied(1, 9, "Look: this.")], look) == ["working"]


def test_a_model_that_has_written_nothing_shows_nothing() -> None:
    assert _drawn([turn(1, 4)], _writing()) == ["turn 1: asking m  6.0s"]
