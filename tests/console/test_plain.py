import io
from datetime import timedelta
from decimal import Decimal

import pytest

from console.plain import PlainOutput
from surefoot.events import Event, RunStatus
from surefoot.failures import crashed, not_found, not_picked_up, timed_out
from surefoot.usage import Usage
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
    snapshot,
    started,
    turn,
)


def _shown(*events: Event, answer: io.StringIO | None = None) -> list[str]:
    stream = io.StringIO()
    output = PlainOutput(stream, answer=answer)
    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()
    return stream.getvalue().split("\n")[2:-1]


def test_a_run_is_told_line_by_line() -> None:
    stream, answer = io.StringIO(), io.StringIO()
    output = PlainOutput(stream, answer=answer)
    events: list[Event] = [
        started(),
        turn(1, 0.1),
        replied(1, 1, "I look.\nClosely.", ("bash", {"command": "ls"}), ("slow", {"n": 3}), ("nope", {})),
        scheduled("1-1", "bash", 1),
        scheduled("1-2", "slow", 1),
        *ended("1-3", "nope", 1, not_found("nope", ["bash"])),
        *ended("1-1", "bash", 1.5, answered("bash", {"stdout": "a"}), since=1.2),
        *ended("1-2", "slow", 3.1, timed_out("slow", timedelta(seconds=2)), since=1.1),
        turn(2, 3.1),
        replied(2, 4, "There is one file."),
        finished(65, answer="There is one file."),
    ]

    output.begin(**RUN)
    for event in events:
        output.show(event)
    output.end()

    assert stream.getvalue() == (
        "run run-1 with scripted:a.yaml\n"
        f"see {UI}\n"
        "turn 1\n"
        "  I look.\n"
        "  Closely.\n"
        "  bash: ls\n"
        "  slow: n=3\n"
        "  nope -> TOOL_NOT_FOUND: There is no tool 'nope'; the tools are: bash\n"
        "  bash: ls -> ok in 0.3s\n"
        "  slow: n=3 -> TOOL_TIMEOUT after 2.0s: Tool 'slow' timed out after 2s\n"
        "turn 2\n"
        "completed after 2 turns, 3 tool calls (2 failed), 1m 05s, 1,200 tokens in, 34 out\n"
    )
    assert answer.getvalue() == "There is one file.\n"


@pytest.mark.parametrize(
    ("status", "error", "lines"),
    [
        pytest.param(
            "failed",
            "the key was\nrefused",
            ["failed after 0 turns, 0 tool calls, 1.0s, 1,200 tokens in, 34 out", "  the key was refused"],
            id="failed",
        ),
        pytest.param(
            "limit_reached",
            "limit of 3 turns",
            [
                "limit reached after 0 turns, 0 tool calls, 1.0s, 1,200 tokens in, 34 out",
                "  limit of 3 turns",
            ],
            id="at a limit",
        ),
        pytest.param(
            "cancelled",
            None,
            ["cancelled after 0 turns, 0 tool calls, 1.0s, 1,200 tokens in, 34 out"],
            id="cancelled",
        ),
    ],
)
def test_the_end_says_how_and_why(status: RunStatus, error: str | None, lines: list[str]) -> None:
    assert _shown(started(), finished(1, status=status, error=error)) == lines


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        pytest.param(Usage(), "", id="nothing"),
        pytest.param(Usage(requests=1, cost=Decimal(0)), "", id="no tokens"),
        pytest.param(Usage(input_tokens=5_000, output_tokens=9), ", 5,000 tokens in, 9 out", id="no price"),
        pytest.param(
            Usage(input_tokens=5_000, cache_read_tokens=4_000, output_tokens=9, cost=Decimal("0.01234567")),
            ", 5,000 tokens in (4,000 cached, 1,000 paid), 9 out, $0.0123",
            id="cached tokens and a price",
        ),
        pytest.param(
            Usage(input_tokens=1, cost=Decimal("1234.567")), ", 1 token in, 0 out, $1,234.57", id="dear"
        ),
        pytest.param(
            Usage(input_tokens=1, cost=Decimal("1e-9")), ", 1 token in, 0 out, less than $0.0001", id="cheap"
        ),
        pytest.param(Usage(input_tokens=1, cost=Decimal(0)), ", 1 token in, 0 out, $0.00", id="free"),
    ],
)
def test_the_end_says_what_the_model_cost(usage: Usage, told: str) -> None:
    end = finished(1).model_copy(update={"usage": usage})
    assert _shown(started(), end) == [f"completed after 0 turns, 0 tool calls, 1.0s{told}"]


def test_a_call_that_nobody_took_is_timed_from_its_scheduling() -> None:
    failure = not_picked_up("gpu", timedelta(seconds=60), queue="gpu", reason="nobody is there")

    lines = _shown(
        replied(1, 0, "", ("gpu", {})), scheduled("1-1", "gpu", 0), *ended("1-1", "gpu", 60, failure)
    )

    assert lines[1] == f"  gpu -> TOOL_INVOCATION_TIMEOUT after 1m 00s: {failure.error}"


def test_arguments_that_are_no_object_stand_as_the_model_wrote_them() -> None:
    lines = _shown(replied(1, 0, "", ("bash", '{"command": ')), *ended("1-1", "bash", 0, crashed("bash", 1)))

    assert lines == ["  bash: {\"command\": -> TOOL_CRASHED: Tool 'bash' crashed with exit code 1"]


def test_a_reply_that_turned_out_not_to_be_the_answer_is_shown() -> None:
    assert _shown(replied(1, 0, "Half a thought"), turn(2, 1)) == ["  Half a thought", "turn 2"]


def test_long_text_and_long_arguments_are_cut() -> None:
    text = "\n".join(f"line {n}" for n in range(1000))

    lines = _shown(replied(1, 0, text, ("bash", {"command": "x" * 100_000})), scheduled("1-1", "bash", 0))

    assert lines[20:] == ["  … 980 more lines", f"  bash: {'x' * 119}…"]


def test_control_characters_of_models_and_tools_are_shown_and_not_sent() -> None:
    lines = _shown(
        replied(1, 0, "\x1b[2J", ("ba\x07sh", {"command": "\x9b1m"})),
        *ended("1-1", "ba\x07sh", 0, crashed("\x1bc", 1)),
    )

    assert lines == [
        "  ␛[2J",
        "  ba␇sh: <U+009B>1m -> TOOL_CRASHED: Tool '␛c' crashed with exit code 1",
    ]


def test_what_comes_in_the_way_is_told_once() -> None:
    stream = io.StringIO()
    output = PlainOutput(stream, answer=None, clock=lambda: at(0))

    for _ in range(3):
        output.now(snapshot(served=False))

    assert stream.getvalue() == "no worker answers for this run yet\n"


@pytest.mark.parametrize(
    ("stdout", "printed"),
    [
        pytest.param(io.StringIO(), "\x1b[31m- **one**\n", id="as it is for a program"),
        pytest.param(Terminal(), "", id="laid out on a terminal"),
    ],
)
def test_the_answer_is_for_whoever_reads_stdout(stdout: io.StringIO, printed: str) -> None:
    _shown(finished(1, answer="\x1b[31m- **one**"), answer=stdout)

    shown = stdout.getvalue()
    assert shown == printed if printed else "one" in shown and "**" not in shown and "\x1b[31m-" not in shown
