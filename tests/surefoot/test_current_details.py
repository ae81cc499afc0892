from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from surefoot.conversation import ToolCall
from surefoot.current_details import MAX_DETAILS_BYTES, Budget, current_details
from surefoot.events import (
    ApprovalRequested,
    Event,
    ExecutionError,
    ModelReplied,
    RunFinished,
    ToolExecutionCompleted,
    ToolExecutionFailed,
    ToolExecutionScheduled,
    TurnStarted,
)
from surefoot.failures import acted, timed_out
from surefoot.limits import Limits
from surefoot.outcome import ToolFailure, ToolSuccess
from surefoot.progress import Progress, progress_after
from surefoot.spent import Spent
from surefoot.usage import NO_USAGE, Usage
from tests.surefoot.arbitrary import TEXTS

BUDGET = Budget(Limits(), Spent(), 0)


def at(seconds: float) -> datetime:
    return datetime(2025, 1, 1, 12, tzinfo=UTC) + timedelta(seconds=seconds)


def asked(turn: int, *calls: tuple[str, dict[str, str]], seconds: float = 0) -> tuple[Event, ...]:
    named = [ToolCall(id=f"c{n}", tool=tool, params={**params}) for n, (tool, params) in enumerate(calls, 1)]
    return (
        TurnStarted(time=at(seconds), turn=turn),
        ModelReplied(time=at(seconds), turn=turn, text="", tool_calls=tuple(named)),
    )


def scheduled(tool_exec_id: str, tool: str, seconds: float) -> ToolExecutionScheduled:
    return ToolExecutionScheduled(time=at(seconds), tool_exec_id=tool_exec_id, call_id="c1", tool=tool)


def completed(tool_exec_id: str, tool: str, seconds: float) -> ToolExecutionCompleted:
    return ToolExecutionCompleted(
        time=at(seconds),
        tool_exec_id=tool_exec_id,
        call_id="c1",
        tool=tool,
        outcome=ToolSuccess(tool=tool, result=None),
    )


def failed(tool_exec_id: str, tool: str, seconds: float, failure: ToolFailure) -> ToolExecutionFailed:
    return ToolExecutionFailed(
        time=at(seconds),
        tool_exec_id=tool_exec_id,
        call_id="c1",
        tool=tool,
        outcome=failure,
        error=ExecutionError(message=failure.error, code=failure.error_code),
        acted=acted(failure),
    )


def after(*events: Event) -> Progress:
    progress = Progress()
    for event in events:
        progress = progress_after(progress, event)
    return progress


def shown(progress: Progress, budget: Budget = BUDGET) -> str:
    return current_details(progress, budget, agent="scout", model="openai-chat:gpt-5")


def test_a_run_at_work_is_shown_with_what_runs_failed_and_was_spent() -> None:
    progress = after(
        *asked(1, ("ls", {"path": "/srv"}), ("fetch", {"url": "https://ada:pw@example.org/"})),
        scheduled("1-1", "ls", 1),
        scheduled("1-2", "fetch", 1),
        completed("1-1", "ls", 1.25),
        failed("1-2", "fetch", 31, timed_out("fetch", timedelta(seconds=30))),
        *asked(2, ("fetch", {"url": "https://example.org/", "api_key": "k-123"}), seconds=32),
        scheduled("2-1", "fetch", 33),
    )
    usage = Usage(requests=2, input_tokens=1_200, output_tokens=40, cost=Decimal("0.12"))
    limits = Limits(max_turns=50, max_cost=Decimal(2), max_output_tokens=9_000, max_seconds=7_200)
    budget = Budget(limits, Spent(usage=usage, tool_calls=2, elapsed_seconds=33.4), 2)

    assert shown(progress, budget).split("\n\n") == [
        "**Runs `fetch`**",
        "agent `scout` · turn 2 · 1 failed call · as of 12:00:33 UTC",
        "**Last failure** `1-2` TOOL_TIMEOUT: `Tool 'fetch' timed out after 30s`",
        "**Spent** 2 of 50 turns · 40 of 9,000 output tokens · `$0.12` of `$2.00` · 33s of 2h",
        (
            "| call | tool and arguments | outcome | time |\n"
            "|---|---|---|---|\n"
            '| 2-1 | `fetch • url="https://example.org/", api_key="[redacted]"` | runs | since 12:00:33 |\n'
            "| 1-2 | `fetch • https://[redacted]@example.org/` | TOOL_TIMEOUT | 30s |\n"
            "| 1-1 | `ls • /srv` | ok | 0.25s |"
        ),
    ]


@pytest.mark.parametrize(
    ("progress", "first"),
    [
        pytest.param(Progress(), "**Decides what comes next**", id="it has only begun"),
        pytest.param(after(asked(1)[0]), "**Asks `openai-chat:gpt-5`**", id="the model is asked"),
        pytest.param(Progress(paused=""), "**Paused**", id="paused without a word"),
        pytest.param(Progress(paused="lunch"), "**Paused: `lunch`**", id="paused"),
        pytest.param(Progress(waiting_for="the next message"), "**Waits for `the next message`**", id="idle"),
        pytest.param(
            after(RunFinished(time=at(1), status="failed", error="the key was revoked", usage=NO_USAGE)),
            "**Failed: `the key was revoked`**",
            id="failed",
        ),
        pytest.param(
            after(RunFinished(time=at(1), status="completed", answer="42", usage=NO_USAGE)),
            "**Completed**",
            id="completed",
        ),
    ],
)
def test_the_first_line_says_what_goes_on(progress: Progress, first: str) -> None:
    assert shown(progress).split("\n")[0] == first


def test_calls_that_wait_for_approval_are_listed_with_what_approves_them() -> None:
    params: dict[str, JsonValue] = {"path": "x" * 500, "token": "abc"}
    events = [
        ApprovalRequested(
            time=at(0),
            tool_exec_id=f"1-{n}",
            call_id=f"c{n}",
            tool="rm",
            params=params,
            params_sha256="5a" * 32,
            why="always",
        )
        for n in range(1, 7)
    ]
    head, _, title, listed, *_ = shown(after(*events)).split("\n\n")

    assert (head, title) == ("**Waits for approval of 6 calls**", "**Waits for approval**")
    assert listed.split("\n") == [
        *(
            f'- `rm` `{{"path": "{"x" * 389}…`: send the update `approve` with '
            f'`{{"tool_exec_id": "1-{n}", "params_sha256": "{"5a" * 32}"}}`'
            for n in range(1, 5)
        ),
        "- 2 more",
    ]


def test_a_decision_that_has_to_be_signed_is_told_so() -> None:
    asked = ApprovalRequested(
        time=at(0),
        tool_exec_id="1-1",
        call_id="c1",
        tool="rm",
        params={},
        params_sha256="5a",
        why="always",
        signed=True,
    )
    details = shown(after(asked))

    assert (
        '- `rm` `{}`: send the update `approve` with `{"tool_exec_id": "1-1", "params_sha256": "5a"}` '
        "and a token, as `surefoot approve … --print` prints it\n"
    ) in details


HOSTILE = "x` | ok |\n| 9-9 | forged | ok | 1s |\n\n**Completed** <img src=x> \\| \\` [a](http://b)"


def test_what_a_tool_says_neither_ends_its_cell_nor_begins_a_row() -> None:
    failure = ToolFailure(error=HOSTILE, error_code="TOOL_CRASHED", exit_code=1, stdout=HOSTILE, stderr="")
    progress = after(*asked(1, (HOSTILE, {HOSTILE: HOSTILE})), failed("1-1", HOSTILE, 1, failure))

    _, _, failed_last, _, table = shown(progress).split("\n\n")

    assert [line.count("|") for line in table.split("\n")] == [5, 5, 5]
    assert failed_last.count("`") == 4
    assert table.count("`") == 2


@settings(max_examples=30)
@given(st.lists(st.tuples(TEXTS, TEXTS, st.booleans()), max_size=40), TEXTS)
def test_whatever_is_said_it_stays_small_and_has_only_its_own_lines(
    calls: list[tuple[str, str, bool]], error: str
) -> None:
    events = [*asked(1, *((tool, {"a": argument}) for tool, argument, _ in calls))]
    for n, (tool, _, runs) in enumerate(calls, 1):
        failure = ToolFailure(error=error, error_code="TOOL_CRASHED", exit_code=1, stdout="", stderr="")
        events.append(scheduled(f"1-{n}", tool, n) if runs else failed(f"1-{n}", tool, n, failure))

    text = shown(after(*events))

    lines = text.split("\n")
    assert len(text.encode()) <= MAX_DETAILS_BYTES
    assert all(line.count("|") in (0, 5) and line.count("`") % 2 == 0 for line in lines)
    assert len(lines) <= 2 * 4 + 2 + 6 + 8
