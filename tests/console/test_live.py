import io
import os
import pty
import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from console.live import LiveOutput, is_capable, terminal
from surefoot.events import Event, RunStatus
from surefoot.failures import Captured, crashed, not_found, timed_out
from tests.console.runs import (
    RUN,
    UI,
    Terminal,
    answered,
    at,
    ended,
    finished,
    replied,
    scheduled,
    screen,
    snapshot,
    started,
    turn,
)


def _shown(*events: Event, width: int = 80) -> list[str]:
    """What stays on a terminal of a run; what changes is not drawn on this one."""
    console = screen(width=width)
    output = LiveOutput(console, answer=None, clock=lambda: at(0))
    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()
    return _lines_of(console)[2:]


def _lines_of(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip(" ") for line in console.file.getvalue().rstrip("\n").split("\n")]


def test_what_runs_when_a_reader_leaves_stays_on_the_screen() -> None:
    console = screen(width=80)
    output = LiveOutput(console, answer=None, keep_running=True, clock=lambda: at(9))
    output.begin(**RUN)
    for event in [
        started(),
        turn(1, 0.1),
        replied(1, 1, "", ("bash", {"command": "ls"})),
        scheduled("1-1", "bash", 1),
    ]:
        output.show(event)
    output.end()

    assert _lines_of(console)[2:] == ["turn 1  0.9s", "  ⠋ bash  ls  8.0s"]


def test_a_run_scrolls_by_as_it_happens() -> None:
    console, answer = screen(width=100), io.StringIO()
    output = LiveOutput(console, answer=answer, clock=lambda: at(0))
    slow = timed_out("slow", timedelta(seconds=2), Captured(stdout="item 1\nitem 2\n"))
    events: list[Event] = [
        started(),
        turn(1, 0.1),
        replied(1, 1, "I look.", ("bash", {"command": "ls"}), ("slow", {"n": 3}), ("nope", {})),
        scheduled("1-1", "bash", 1),
        scheduled("1-2", "slow", 1),
        *ended("1-3", "nope", 1, not_found("nope", ["bash"])),
        *ended("1-1", "bash", 1.5, answered("bash", {"stdout": "a\nb\n", "exit_code": 0}), since=1.2),
        *ended("1-2", "slow", 3.1, slow, since=1.1),
        turn(2, 3.1),
        replied(2, 4, "Two files."),
        finished(5, answer="Two files."),
    ]

    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()

    assert _lines_of(console) == [
        "● run-1  scripted:a.yaml",
        f"  {UI}",
        "turn 1  0.9s",
        "  I look.",
        "  ✗ nope  TOOL_NOT_FOUND",
        "    There is no tool 'nope'; the tools are: bash",
        "  ✓ bash  ls  0.3s",
        "    exit_code: 0 · stdout: a b",
        "  ✗ slow  n=3  2.0s  TOOL_TIMEOUT",
        "    Tool 'slow' timed out after 2s",
        "    │ item 1",
        "    │ item 2",
        "turn 2  0.9s",
        "✓ completed after 2 turns, 3 tool calls (2 failed), 5.0s, 1,200 tokens in, 34 out",
    ]
    assert answer.getvalue() == "Two files.\n"


@pytest.mark.parametrize(
    ("status", "first"),
    [
        pytest.param("failed", "✗ failed after 0 turns, 0 tool calls, 1,200 tokens in, 34 out", id="failed"),
        pytest.param(
            "limit_reached",
            "■ limit reached after 0 turns, 0 tool calls, 1,200 tokens in, 34 out",
            id="at a limit",
        ),
        pytest.param(
            "cancelled", "■ cancelled after 0 turns, 0 tool calls, 1,200 tokens in, 34 out", id="cancelled"
        ),
    ],
)
def test_the_end_says_how_and_why(status: RunStatus, first: str) -> None:
    assert _shown(finished(1, status=status, error="because")) == [first, "  because"]


def test_long_lines_are_indented_and_arguments_are_cut_before_what_became_of_them() -> None:
    events = [
        replied(1, 0, "word " * 12, ("bash", {"command": "y" * 100})),
        *ended("1-1", "bash", 2, crashed("bash", 139), since=1),
    ]

    assert _shown(*events, width=40) == [
        "turn 1",
        "  word word word word word word word",
        "  word word word word word",
        "  ✗ bash  yyyyyyyyyyyyyyyyyyy…  1.0s",
        "TOOL_CRASHED",
        "    Tool 'bash' crashed with exit code",
        "    139",
    ]


_HOSTILE = st.text(st.sampled_from("ab[]/\\{}:\x1b\x9b\x07\x08\r\u202e\ud800 \n"))


@settings(max_examples=50)
@given(_HOSTILE, _HOSTILE, _HOSTILE)
def test_neither_model_nor_tool_makes_the_terminal_obey(text: str, params: str, output: str) -> None:
    shown = _shown(
        replied(1, 0, text, ("bash", {"a": params, params: [params]}), ("bash", params)),
        *ended("1-1", "bash", 1, answered("bash", {"stdout": output}), since=0),
        *ended("1-2", "bash", 1, crashed("bash", 1, Captured(stdout=output)), since=0),
        finished(2, status="failed", error=output),
    )

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", "\n".join(shown))


def test_what_looks_like_markup_is_text() -> None:
    shown = _shown(replied(1, 0, "[bold]a[/bold] :smile: [/]", ("bash", {"command": "[red]ls[/red]"})))

    assert shown[1] == "  [bold]a[/bold] :smile: [/]"


def test_a_terminal_is_left_as_it_was_found() -> None:
    drawn = _drawn_on_a_terminal(finish=True)

    assert (drawn.count(b"\x1b[?25l"), drawn.count(b"\x1b[?25h")) == (1, 1)


def test_a_run_that_is_left_leaves_the_terminal_as_it_was_found() -> None:
    drawn = _drawn_on_a_terminal(finish=False)

    assert (drawn.count(b"\x1b[?25l"), drawn.count(b"\x1b[?25h")) == (1, 1)


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]m", _drawn_on_a_terminal(finish=True))


@pytest.mark.parametrize(
    ("term", "capable"),
    [pytest.param("xterm-256color", True, id="a usual one"), pytest.param("dumb", False, id="a dumb one")],
)
def test_a_terminal_that_can_draw_is_known(monkeypatch: pytest.MonkeyPatch, term: str, capable: bool) -> None:
    monkeypatch.setenv("TERM", term)

    assert is_capable(terminal(Terminal())) is capable


def test_a_terminal_without_unicode_is_not_drawn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")

    assert not is_capable(terminal(io.TextIOWrapper(io.BytesIO(), encoding="ascii")))


def _drawn_on_a_terminal(*, finish: bool) -> bytes:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        output = LiveOutput(terminal(stream), answer=None)
        output.begin(**RUN)
        output.show(started())
        output.show(turn(1, 0))
        output.now(snapshot())
        if finish:
            output.show(finished(1, answer="done"))
        output.end()
    drawn = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    return drawn


def _read(terminal_side: int) -> bytes:
    try:
        return os.read(terminal_side, 65_536)
    except OSError:
        # How Linux tells that nobody has the other side open any more.
        return b""
