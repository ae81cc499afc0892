"""What a notice says."""

from datetime import UTC, datetime

import pytest

from surefoot.events import (
    ApprovalRequested,
    Event,
    ModelUnavailable,
    RunFinished,
    TurnStarted,
)
from surefoot.notice import notice_of
from surefoot.usage import Usage

NOW = datetime(2027, 1, 31, 7, tzinfo=UTC)


def asked(**params: object) -> Event:
    return ApprovalRequested.model_validate(
        {
            "time": NOW,
            "tool_exec_id": "3-1",
            "call_id": "c",
            "tool": "bash",
            "params": params,
            "params_sha256": "0",
            "why": "it may destroy something",
        }
    )


def finished(**more: object) -> Event:
    return RunFinished.model_validate({"time": NOW, "usage": Usage(), **more})


@pytest.mark.parametrize(
    ("event", "said"),
    [
        pytest.param(
            asked(command="rm -r build"),
            ("approval", "waiting", "bash needs approval (it may destroy something): rm -r build", "3-1"),
            id="a call waits",
        ),
        pytest.param(
            asked(password="hunter2"),
            (
                "approval",
                "waiting",
                'bash needs approval (it may destroy something): password="[redacted]"',
                "3-1",
            ),
            id="a call with a secret waits",
        ),
        pytest.param(
            ModelUnavailable(time=NOW, turn=2, reason="503\noverloaded"),
            ("waiting", "waiting", "503 overloaded", None),
            id="the model is away",
        ),
        pytest.param(
            finished(status="completed", answer="x" * 600),
            ("ended", "completed", "x" * 499 + "…", None),
            id="a long answer",
        ),
        pytest.param(
            finished(status="limit_reached", answer="So far.", error="limit of 50 turns"),
            ("ended", "limit_reached", "So far.", None),
            id="a limit",
        ),
        pytest.param(
            finished(status="failed", error="401"), ("ended", "failed", "401", None), id="a failure"
        ),
        pytest.param(
            finished(status="cancelled"),
            ("ended", "cancelled", "", None),
            id="a cancellation without a reason",
        ),
    ],
)
def test_a_notice_says_what_happened(event: Event, said: tuple[str, str, str, str | None]) -> None:
    notice = notice_of(event, number=1, workflow_id="w", run_id="r", agent=None)

    assert notice is not None
    assert (notice.what, notice.status, notice.text, notice.tool_exec_id) == said
    assert notice.id == "w/r/1"


def test_nobody_is_told_of_a_turn() -> None:
    event = TurnStarted(time=NOW, turn=1)

    assert notice_of(event, number=1, workflow_id="w", run_id="r", agent=None) is None
