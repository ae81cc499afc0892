"""Schedules on the real server: what they start, and what they refuse."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.client import Client

from surefoot.run import RunInput, RunResult
from tests.workers.real_workers import new_queue
from tests.workflows.agents import Replies, says, serving
from workers.run_list import Wanted, list_runs
from workers.schedule_times import At, Cron, Every, Times, spec_of, words_of
from workers.schedule_views import ListedSchedule, ShownSchedule, list_schedules, show_schedule
from workers.schedules import NewSchedule, ScheduleRefusedError, create_schedule, schedule

PATIENCE_SECONDS = 20
HOURLY = Every(timedelta(hours=1))
RARELY = Every(timedelta(days=365))
"""The server of these tests goes on, and is not to start it."""


def new(times: Times = RARELY, queue: str = "nobody") -> NewSchedule:
    run = RunInput(prompt="Report.\nBriefly.", model="replies", agent_name="reporter")
    return NewSchedule(new_queue(), times, run, queue, "wait", catch_up=timedelta(minutes=10))


async def until_listed(client: Client, schedule_id: str) -> ListedSchedule:
    """The server's list is behind what it knows of each."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            for one in await list_schedules(client):
                if one.schedule_id == schedule_id:
                    return one
            await asyncio.sleep(0.05)


async def until_started(client: Client, schedule_id: str) -> ShownSchedule:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (shown := await show_schedule(client, schedule_id)).recent:  # noqa: ASYNC110  only the server knows
            await asyncio.sleep(0.05)
        return shown


async def until_found(client: Client, agent: str, workflow_id: str) -> None:
    """Wait until the list of runs has this one under its agent's name."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            listed = await list_runs(client, Wanted(agent=agent))
            if workflow_id in {one.workflow_id for one in listed}:
                return
            await asyncio.sleep(0.05)


async def test_a_schedule_starts_runs_by_itself_with_its_id_and_their_time(client: Client) -> None:
    agent = new_queue()
    async with serving(client, Replies([says("Done.")] * 9)) as queue:
        asked = new(Every(timedelta(seconds=1)), queue)
        named = asked.run.model_copy(update={"agent_name": agent})
        every_second = replace(asked, run=named, overlap="skip")
        await create_schedule(client, every_second)
        shown = await until_started(client, every_second.schedule_id)
        async with schedule(client, every_second.schedule_id) as handle:
            await handle.delete()
        run = client.get_workflow_handle(shown.recent[0].workflow_id, result_type=RunResult)
        result = await run.result()
        described = await run.describe()
        await until_found(client, agent, run.id)

    assert shown.recent[0].workflow_id.startswith(f"{every_second.schedule_id}-20")
    assert result.answer == "Done."
    assert (await described.static_summary(), described.task_queue) == ("Report. Briefly.", queue)


async def test_a_schedule_is_listed_and_shown_as_it_was_created(client: Client) -> None:
    asked = new(Cron("0 7 * * 1", "Europe/Berlin"))
    await create_schedule(client, asked)
    async with schedule(client, asked.schedule_id) as handle:
        await handle.pause(note="the provider is down")
    listed, shown = (
        await until_listed(client, asked.schedule_id),
        await show_schedule(client, asked.schedule_id),
    )

    assert (listed.when, listed.prompt, listed.last_run) == (
        "0 7 * * 1 Europe/Berlin",
        "Report. Briefly.",
        None,
    )
    assert shown.run == asked.run.model_copy(
        update={"search_attributes": True, "error_codes_attribute": True}
    )
    assert (shown.queue, shown.overlap, shown.catch_up, shown.started) == (
        "nobody",
        "wait",
        asked.catch_up,
        0,
    )
    assert (shown.paused, shown.note) == (True, "the provider is down")
    assert {moment.weekday() for moment in shown.next_at} == {0}


async def test_a_schedule_for_one_moment_has_no_second_one(client: Client) -> None:
    moment = (datetime.now(UTC) + timedelta(days=40)).replace(microsecond=0)
    asked = new(At(moment))
    await create_schedule(client, asked)

    assert (await show_schedule(client, asked.schedule_id)).next_at == (moment,)


async def test_a_schedule_that_there_is_already_is_refused(client: Client) -> None:
    asked = new()
    await create_schedule(client, asked)

    with pytest.raises(ScheduleRefusedError, match=f"^there is a schedule '{asked.schedule_id}' already$"):
        await create_schedule(client, asked)


async def test_an_expression_that_the_server_does_not_take_is_refused_in_its_words(client: Client) -> None:
    with pytest.raises(ScheduleRefusedError, match=r"^the server refuses the schedule '.*': .*[Cc]ron"):
        await create_schedule(client, new(Cron("at seven")))


async def test_a_schedule_that_there_is_not_is_refused(client: Client) -> None:
    with pytest.raises(ScheduleRefusedError, match=r"^there is no schedule 'nightly'$"):
        await show_schedule(client, "nightly")


@pytest.mark.parametrize(
    ("times", "words"),
    [
        pytest.param(HOURLY, "every 1h", id="an interval"),
        pytest.param(Cron("0 7 * * *"), "0 7 * * * UTC", id="an expression"),
        pytest.param(At(datetime(2027, 1, 31, 7, tzinfo=UTC)), "at 2027-01-31T07:00:00+00:00", id="a moment"),
    ],
)
def test_times_are_told_in_a_few_words(times: Times, words: str) -> None:
    assert words_of(times) == words


def test_jitter_is_part_of_the_times() -> None:
    assert spec_of(HOURLY, jitter=timedelta(minutes=5)).jitter == timedelta(minutes=5)
