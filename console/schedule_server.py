"""What `surefoot schedule` asks of a server, and prints."""

import logging
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

from temporalio.client import Client, ScheduleHandle

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.json_text import json_text
from console.lines import write_line
from console.schedule_text import moment_text, schedule_fields, schedule_table, shown_fields, shown_lines
from console.watching import command_on
from workers.dev_presence import dev_is_up
from workers.logging import configure_logging
from workers.schedule_views import list_schedules, show_schedule
from workers.schedules import NewSchedule, ScheduleRefusedError, create_schedule, schedule
from workers.settings import Settings
from workers.temporal import Temporal, temporal


class ScheduleFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True)
class Change:
    """Something done to a schedule, and what is said of it."""

    act: Callable[[ScheduleHandle], Awaitable[None]]
    done: str
    """`paused`."""
    then: str | None = None
    """The command that comes next: `schedule resume`."""
    what: str = ""
    """What that does: `lets it start runs again`."""
    starts: bool = False
    """Whether it starts a run, which somebody has to serve."""


def create_on_server(new: NewSchedule, settings: Settings, address: str | None) -> ExitCode:
    """Create a schedule, and say when it starts the first run."""

    async def create() -> ExitCode:
        _need_dev(settings, address)
        async with _server(settings, address) as server:
            await create_schedule(server.client, new)
            shown = await show_schedule(server.client, new.schedule_id)
            again = _command("schedule show", new.schedule_id, server)
        following = moment_text(shown.next_at[0]) if shown.next_at else "never"
        write_line(sys.stderr, f"created, next at {following}; `{again}` tells what it has done")
        return ExitCode.DONE

    return run_to_exit_code(lambda _: create())


def change_on_server(schedule_id: str, address: str | None, change: Change) -> ExitCode:
    """Do something to a schedule, and say that it is done."""
    settings, named, wanted = _asked(schedule_id, address)

    async def do() -> ExitCode:
        if change.starts:
            _need_dev(settings, named)
        async with _server(settings, named) as server, schedule(server.client, wanted) as handle:
            await change.act(handle)
            again = f"; `{_command(change.then, wanted, server)}` {change.what}" if change.then else ""
        write_line(sys.stderr, f"{change.done}{again}")
        return ExitCode.DONE

    return run_to_exit_code(lambda _: do())


def list_on_server(output: ScheduleFormat, address: str | None) -> ExitCode:
    """Print the schedules of a server."""

    async def lines(client: Client) -> Iterator[str]:
        found = await list_schedules(client)
        if output is ScheduleFormat.JSON:
            return iter([json_text([schedule_fields(one) for one in found])])
        return schedule_table(found)

    return _print(lines, address)


def show_on_server(schedule_id: str, output: ScheduleFormat, address: str | None) -> ExitCode:
    """Print one schedule."""
    wanted = checked_name("ID", schedule_id) or ""

    async def lines(client: Client) -> Iterator[str]:
        found = await show_schedule(client, wanted)
        return iter([json_text(shown_fields(found))]) if output is ScheduleFormat.JSON else shown_lines(found)

    return _print(lines, address)


def _print(lines: Callable[[Client], Awaitable[Iterator[str]]], address: str | None) -> ExitCode:
    settings, named, _ = _asked("-", address)

    async def tell() -> ExitCode:
        async with _server(settings, named) as server:
            for line in await lines(server.client):
                write_line(sys.stdout, line)
        return ExitCode.DONE

    return run_to_exit_code(lambda _: tell())


def _asked(schedule_id: str, address: str | None) -> tuple[Settings, str | None, str]:
    return settings_or_complain(), address_or_complain(address), checked_name("ID", schedule_id) or ""


@asynccontextmanager
async def _server(settings: Settings, address: str | None) -> AsyncGenerator[Temporal]:
    configure_logging(logging.WARNING)
    try:
        async with temporal(settings, address=address) as server:
            yield server
    except ScheduleRefusedError as error:
        raise CommandError(str(error)) from None


def _need_dev(settings: Settings, address: str | None) -> None:
    if address is None and not dev_is_up(settings):
        raise CommandError(
            "a scheduled run needs somebody who serves it: start `surefoot dev` first, or name a server "
            "with --address"
        )


def _command(name: str, schedule_id: str, server: Temporal) -> str:
    return command_on(name, schedule_id, None if server.embedded else server.address)
