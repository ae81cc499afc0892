import io
from collections.abc import Callable
from functools import partial
from typing import TextIO

import pytest

from console.held_notice import HeldNotice
from console.live import LiveOutput
from console.markdown_output import MarkdownOutput
from console.output import Output
from console.plain import PlainOutput
from console.steering_text import SteeringEvent, steering_text
from console.transcript_json import TranscriptJson
from console.transcript_text import TranscriptText
from surefoot.events import (
    Event,
    LimitRaised,
    ModelUnavailable,
    RunPaused,
    RunResumed,
)
from tests.console.runs import RUN, answered, at, ended, finished, replied, scheduled, screen, started, turn

PAUSED = RunPaused(time=at(3), reason="look at it\nfirst", sender="Ada")
AWAY = ModelUnavailable(time=at(8), turn=2, reason="503 overloaded")
RESUMED = RunResumed(time=at(9))
RAISED = LimitRaised(
    time=at(4),
    limits={"max_turns": 1_200, "max_cost": None},
    before={"max_turns": 50, "max_cost": 2.5},
    reason="nearly there",
)

EVENTS: list[Event] = [
    started(),
    turn(1, 0),
    replied(1, 1, "I look.", ("look", {})),
    scheduled("1-1", "look", 2),
    PAUSED,
    *ended("1-1", "look", 4, answered("look", True), since=2),
    RESUMED,
    turn(2, 6),
    AWAY,
    RESUMED,
    turn(2, 9),
    replied(2, 10, "Done."),
    finished(10, answer="Done."),
]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        pytest.param(PAUSED, "paused by Ada: look at it first", id="who and why"),
        pytest.param(RunPaused(time=at(0)), "paused", id="nobody said who or why"),
        pytest.param(AWAY, "the run waits for its model: 503 overloaded", id="a model that is away"),
        pytest.param(
            RAISED,
            "limit raised: max_turns 50 -> 1,200, max_cost 2.5 -> none (nearly there)",
            id="limits with what they were",
        ),
        pytest.param(
            RunResumed(time=at(0), sender="A\x1b[31m"), "resumed by A␛[31m", id="no colours of others"
        ),
    ],
)
def test_what_was_done_to_a_run_is_one_line(event: SteeringEvent, line: str) -> None:
    assert steering_text(event) == line


def told(output: Output) -> None:
    output.begin(**RUN)
    for event in EVENTS:
        output.show(event)
    output.end()


@pytest.mark.parametrize(
    ("output", "mark"),
    [
        pytest.param(partial(PlainOutput, answer=None), "", id="plain"),
        pytest.param(TranscriptText, "", id="a transcript"),
        pytest.param(MarkdownOutput, "*", id="markdown"),
    ],
)
def test_every_output_tells_it_between_what_it_came_between(
    output: Callable[[TextIO], Output], mark: str
) -> None:
    out, away = io.StringIO(), "the run waits for its model: 503 overloaded"
    lines = [
        f"{mark}{line}{mark}" for line in ("paused by Ada: look at it first", "resumed", away, "resumed")
    ]

    told(output(out))

    printed = [line for line in out.getvalue().splitlines() if line]
    places = [printed.index(line) for line in dict.fromkeys(lines)]
    look = next(n for n, line in enumerate(printed) if "look" in line and "Ada" not in line)
    assert [line for line in printed if line in lines] == lines
    assert places == sorted(places)
    assert look < places[1]


def test_a_terminal_and_json_tell_it_too() -> None:
    terminal, out = screen(), io.StringIO()

    told(LiveOutput(terminal, answer=None))
    told(TranscriptJson(out))

    assert isinstance(terminal.file, io.StringIO)
    drawn = terminal.file.getvalue()
    assert "paused by Ada: look at it first\n" in drawn
    assert '"steering": [{"type": "run_paused", "time": "2025-01-01T12:00:03Z", "reason": ' in out.getvalue()


def test_who_follows_a_run_is_told_once_how_to_let_it_go_on() -> None:
    notice = HeldNotice("surefoot resume run-1")
    lines: list[list[str]] = []
    for event in (PAUSED, turn(1, 0), RESUMED, AWAY, RESUMED, AWAY):
        notice.hear(event)
        if event is not RESUMED:
            lines.append([*notice.due()])

    asks = "the run waits; `surefoot resume run-1` has it ask its model again"
    assert lines == [["the run is paused; `surefoot resume run-1` lets it go on"], [], [asks], [asks]]
