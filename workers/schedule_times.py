"""When a schedule starts runs, as the server is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import assert_never

from temporalio.client import ScheduleCalendarSpec, ScheduleIntervalSpec, ScheduleRange, ScheduleSpec

from surefoot.budget import period


@dataclass(frozen=True)
class Every:
    """Again and again, at the multiples of this time since 1970: every hour is on the hour."""

    interval: timedelta


@dataclass(frozen=True)
class Cron:
    """When a cron expression of five fields, or such as `@daily`, says so; in this time zone."""

    expression: str
    time_zone: str = "UTC"


@dataclass(frozen=True)
class At:
    """Once, at this moment, which has a time zone."""

    moment: datetime


Times = Every | Cron | At


def spec_of(times: Times, *, jitter: timedelta | None = None) -> ScheduleSpec:
    """Give the server's form; each start is up to `jitter` later, by chance."""
    match times:
        case Every(interval=interval):
            return ScheduleSpec(intervals=[ScheduleIntervalSpec(every=interval)], jitter=jitter)
        case Cron(expression=expression, time_zone=time_zone):
            return ScheduleSpec(cron_expressions=[expression], time_zone_name=time_zone, jitter=jitter)
        case At(moment=moment):
            return ScheduleSpec(calendars=[_calendar(moment.astimezone(UTC))], jitter=jitter)
        case _:
            assert_never(times)


def words_of(times: Times) -> str:
    """Say it in a few words: `every 1h`, `0 7 * * * UTC`, `at 2026-12-01T07:00:00+00:00`."""
    match times:
        case Every(interval=interval):
            return f"every {period(interval)}"
        case Cron(expression=expression, time_zone=time_zone):
            return f"{expression} {time_zone}"
        case At(moment=moment):
            return f"at {moment.isoformat()}"
        case _:
            assert_never(times)


def _calendar(moment: datetime) -> ScheduleCalendarSpec:
    return ScheduleCalendarSpec(
        year=_only(moment.year),
        month=_only(moment.month),
        day_of_month=_only(moment.day),
        hour=_only(moment.hour),
        minute=_only(moment.minute),
        second=_only(moment.second),
    )


def _only(value: int) -> Sequence[ScheduleRange]:
    return [ScheduleRange(value)]
