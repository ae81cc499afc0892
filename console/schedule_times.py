"""When a schedule is to start runs, as it is typed."""

from datetime import UTC, datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from console.errors import CommandError
from console.given_text import checked_name
from console.limit_options import read_period
from workers.schedule_times import At, Cron, Every, Times

EveryOption = Annotated[
    float | None,
    typer.Option("--every", parser=read_period, metavar="TIME", help="Again and again: 30m, 1h, 1d."),
]
CronOption = Annotated[
    str | None, typer.Option("--cron", metavar="EXPRESSION", help='Five fields, such as "0 7 * * *".')
]
AtOption = Annotated[
    str | None, typer.Option("--at", metavar="MOMENT", help="Once, such as 2027-01-31T07:00.")
]
TimeZoneOption = Annotated[
    str | None,
    typer.Option(
        "--time-zone", metavar="NAME", help="Of --cron and --at: Europe/Berlin.", show_default="UTC"
    ),
]
JitterOption = Annotated[
    float | None,
    typer.Option(
        "--jitter", parser=read_period, metavar="TIME", help="Start up to this much later, by chance."
    ),
]


def chosen_times(
    *, every: float | None, cron: str | None, at: str | None, time_zone: str | None, now: datetime
) -> Times:
    """Give when runs are to start.

    Raises:
        CommandError: not exactly one way is named, or what is named is no time that is to come.
    """
    zone = _zone(checked_name("--time-zone", time_zone))
    match every, checked_name("--cron", cron), checked_name("--at", at):
        case float() | int(), None, None:
            if zone is not None:
                raise CommandError("--time-zone is for --cron and --at: --every counts from 1970 in UTC")
            return Every(_whole_seconds(every))
        case None, str() as expression, None:
            return Cron(expression, zone.key if zone is not None else "UTC")
        case None, None, str() as text:
            return At(_moment(text, zone, now))
        case _:
            raise CommandError("say when: pass one of --every, --cron and --at")


def _whole_seconds(seconds: float) -> timedelta:
    if seconds < 1 or seconds != int(seconds):
        raise CommandError("--every is a whole number of seconds, and at least one")
    return timedelta(seconds=seconds)


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return ZoneInfo(name) if name is not None else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CommandError(f"there is no time zone '{name}' on this machine") from None


def _moment(text: str, zone: ZoneInfo | None, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--at '{text}' is no moment such as 2027-01-31T07:00") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone or UTC)
    elif zone is not None:
        raise CommandError(f"--at '{text}' has a time zone of its own: leave out --time-zone")
    if moment <= now:
        raise CommandError(f"--at '{text}' is over")
    return moment.replace(microsecond=0)
