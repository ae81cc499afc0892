import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.heartbeats import BeatIntervals, beating
from surefoot.outcome import ToolFailure
from tests.activities.tools.disk_tools import PYTHON, write_tool
from tests.workers.real_workers import until_running, working
from tests.workflows.agents import Replies, calls, finish, says, start

FLOOD_SECONDS = 4
"""Longer than the heartbeat timeout by far, for a beat that is starved."""

FLOOD = f"""{PYTHON}
import os, sys, time
end, block = time.monotonic() + {FLOOD_SECONDS}, b"flood " * 10_000
while time.monotonic() < end:
    os.write(1, block)
    os.write(2, block)
sys.exit(7)
"""


class News(BaseModel):
    """What a beat tells."""

    text: str


def seconds(with_news: float, idle: float) -> BeatIntervals:
    return BeatIntervals(timedelta(seconds=with_news), timedelta(seconds=idle))


@pytest.mark.parametrize(
    ("heartbeat_timeout", "expected"),
    [
        pytest.param(None, seconds(0.5, 10), id="silence is not taken for death"),
        pytest.param(timedelta(seconds=60), seconds(0.5, 10), id="longer than both need"),
        pytest.param(timedelta(seconds=15), seconds(0.5, 5), id="too short for the idle pace"),
        pytest.param(timedelta(seconds=1.2), seconds(0.4, 0.4), id="too short for both"),
    ],
)
def test_the_intervals_leave_room_for_three_beats_in_a_timeout(
    heartbeat_timeout: timedelta | None, expected: BeatIntervals
) -> None:
    assert seconds(0.5, 10).within(heartbeat_timeout) == expected


async def beats_until(told: list[object], *, intervals: BeatIntervals, news: list[News]) -> list[object]:
    """Beat, with one item of news after the other, until all of this was told."""
    environment, beats, all_told = ActivityEnvironment(), list[object](), asyncio.Event()

    def on_heartbeat(*details: object) -> None:
        beats.append(*details or [None])
        if len(news) > 1:
            news.pop(0)
        if len(beats) >= len(told):
            all_told.set()

    async def act() -> None:
        async with beating(intervals, lambda: news[0] if news else None):
            await all_told.wait()

    environment.on_heartbeat = on_heartbeat
    async with asyncio.timeout(10):
        await environment.run(act)
    return beats


async def test_news_is_told_without_waiting_for_the_idle_beat() -> None:
    told: list[object] = [News(text="a"), News(text="b"), News(text="c")]
    news = [News(text="a"), News(text="b"), News(text="c")]

    assert await beats_until(told, intervals=seconds(0.01, 600), news=news) == told


async def test_what_has_no_news_beats_at_the_idle_pace() -> None:
    assert await beats_until([None] * 3, intervals=seconds(0.01, 0.02), news=[]) == [None] * 3


async def test_a_tool_that_floods_its_output_is_not_taken_for_dead(client: Client, tmp_path: Path) -> None:
    write_tool(tmp_path / "tools", "flood", FLOOD, heartbeatSeconds=2, timeoutSeconds=60)

    async with (
        asyncio.timeout(30),
        working(client, tmp_path, Replies([calls(("flood", {})), says("Done.")])) as queue,
    ):
        run = await start(client, queue)
        seen = await until_running(
            run, lambda one: one.captured is not None and "more bytes" in one.captured.stdout
        )
        finished = await finish(run)

    (outcome,) = finished.outcomes
    assert isinstance(outcome, ToolFailure)
    assert (outcome.error_code, outcome.exit_code) == ("TOOL_CRASHED", 7)
    assert seen.captured is not None
    assert len(seen.captured.stdout.encode()) <= 10_240
    assert len(seen.captured.stderr.encode()) <= 4_096
