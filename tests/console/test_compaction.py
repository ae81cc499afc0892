from functools import reduce

import pytest
from rich.console import Group

from activities.interface import COMPACT_CONTEXT
from console.compaction import compaction_text
from console.live_lines import happened_lines
from console.live_view import Scene, running_lines, seen
from console.plain import event_lines
from console.progress import Progress, advance
from surefoot.events import (
    CompactionReason,
    ContextCompacted,
    Event,
)
from tests.console.runs import at, running, screen, snapshot, started, turn


def compacted(
    shortened: int, summarised: int, *, reason: CompactionReason = "full", turn: int = 2
) -> ContextCompacted:
    return ContextCompacted(
        time=at(2),
        turn=turn,
        reason=reason,
        results_shortened=shortened,
        turns_summarised=summarised,
        bytes_before=812 * 1024,
        bytes_after=203 * 1024,
    )


@pytest.mark.parametrize(
    ("event", "text"),
    [
        pytest.param(
            compacted(12, 1_040),
            "context window nearly full: 12 results shortened, 1,040 turns summarised, 812 KB -> 203 KB",
            id="both",
        ),
        pytest.param(
            compacted(1, 0, reason="overflow"),
            "conversation too long for the model: 1 result shortened, 812 KB -> 203 KB",
            id="one result, after an overflow",
        ),
        pytest.param(
            compacted(0, 0),
            "context window nearly full: nothing left to shorten, 812 KB -> 203 KB",
            id="nothing",
        ),
    ],
)
def test_a_conversation_that_was_made_smaller_is_told_on_one_line(event: ContextCompacted, text: str) -> None:
    assert compaction_text(event) == text
    before = Progress()
    after = advance(before, event)
    assert list(event_lines(event, before=before, after=after)) == [text]
    terminal = screen(width=120)
    with terminal.capture() as capture:
        terminal.print(Group(*happened_lines(event, before=before, after=after, width=120)))
    assert capture.get() == f"{text}\n"


def test_it_is_shown_while_it_is_made_smaller() -> None:
    events: list[Event] = [started(), turn(1, 0)]
    scene = Scene(model="m", progress=reduce(advance, events, Progress()))
    looked = seen(scene, snapshot(running("compact_context-1", COMPACT_CONTEXT)))
    terminal = screen(width=60)
    with terminal.capture() as capture:
        terminal.print(Group(*running_lines(looked, at(10), width=60)))
    assert capture.get()[4:] == "making room in the context window\n"
