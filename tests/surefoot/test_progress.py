from datetime import UTC, datetime

import pytest

from surefoot.current_details import Budget, current_details
from surefoot.events import (
    Event,
    ModelUnavailable,
    RunFinished,
    RunPaused,
    RunResumed,
    ToolExecutionCompleted,
    TurnStarted,
)
from surefoot.limits import Limits
from surefoot.outcome import ToolSuccess
from surefoot.progress import Progress, progress_after
from surefoot.spent import Spent
from surefoot.usage import NO_USAGE

NOW = datetime(2025, 1, 1, tzinfo=UTC)
ASKED = TurnStarted(time=NOW, turn=3)
PAUSED = RunPaused(time=NOW, reason="lunch")
AWAY = ModelUnavailable(time=NOW, turn=3, reason="503 overloaded")
RESUMED = RunResumed(time=NOW)
FAILED = RunFinished(time=NOW, status="failed", usage=NO_USAGE)
WAITS = "Waits for its model, until it is resumed: `503 overloaded`"


@pytest.mark.parametrize(
    ("events", "status", "head"),
    [
        pytest.param([ASKED, PAUSED], "paused", "Paused: `lunch`", id="paused"),
        pytest.param([ASKED, PAUSED, RESUMED], "running", "Asks `m`", id="resumed"),
        pytest.param([ASKED, AWAY], "waiting", WAITS, id="its model is away"),
        pytest.param([ASKED, PAUSED, AWAY], "paused", "Paused: `lunch`", id="paused, and its model is away"),
        pytest.param([ASKED, AWAY, RESUMED, ASKED], "running", "Asks `m`", id="asks again"),
        pytest.param([ASKED, AWAY, FAILED], "failed", "Failed", id="ended while it waited"),
    ],
)
def test_what_holds_a_run_is_its_status_and_its_first_line(
    events: list[Event], status: str, head: str
) -> None:
    progress = Progress()
    for event in events:
        progress = progress_after(progress, event)

    details = current_details(progress, Budget(Limits(), Spent(), 0), agent=None, model="m")

    assert (progress.status, details.partition("\n")[0]) == (status, f"**{head}**")


def test_where_untrusted_content_first_came_from_is_shown() -> None:
    progress = Progress()
    for number, untrusted in enumerate((False, True, True), 1):
        ended = ToolExecutionCompleted(
            time=NOW,
            tool_exec_id=f"3-{number}",
            call_id=f"c{number}",
            tool="fetch",
            outcome=ToolSuccess(tool="fetch", result=None),
            untrusted=untrusted,
        )
        progress = progress_after(progress, ended)

    details = current_details(progress, Budget(Limits(), Spent(), 0), agent=None, model="m")

    assert "**Untrusted content** first came from `fetch` in call `3-2`" in details.split("\n\n")
