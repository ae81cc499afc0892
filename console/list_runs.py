"""`surefoot list`: the runs of a server."""

import logging
import sys
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

import typer

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.json_text import json_text
from console.limit_options import read_period
from console.lines import write_line
from console.options import AddressOption
from console.run_table import run_fields, run_table
from surefoot.attributes import Status
from surefoot.outcome import ErrorCode
from workers.logging import configure_logging
from workers.run_list import ListedRun, NotListableError, Wanted
from workers.run_list import list_runs as runs_on
from workers.settings import Settings
from workers.temporal import temporal


class ListFormat(StrEnum):
    """What `-o` takes here."""

    TEXT = "text"
    JSON = "json"


def list_runs(
    status: Annotated[Status | None, typer.Option(help="Only runs that stand so.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this agent.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only runs in which a tool call failed.")] = False,
    error_code: Annotated[
        ErrorCode | None, typer.Option(metavar="CODE", help="Only runs in which a tool call failed so.")
    ] = None,
    since: Annotated[
        float | None,
        typer.Option(parser=read_period, metavar="TIME", help="Only runs that began within it: 24h, 90m."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, metavar="N", help="At most so many.")] = 20,
    output: Annotated[ListFormat, typer.Option("--output", "-o", help="What stdout carries.")] = (
        ListFormat.TEXT
    ),
    address: AddressOption = None,
) -> int:
    """List runs, those first that go on, and of these and the others the newest first.

    Turns and failures of a run that goes on may be 25 turns behind; a `-` is what the server does not know.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    named = address_or_complain(address)
    began = None if since is None else datetime.now(UTC) - timedelta(seconds=since)
    wanted = Wanted(status, checked_name("--agent", agent), failed, error_code, began, limit)
    return run_to_exit_code(lambda _: _list(wanted, settings, named, output))


async def _list(wanted: Wanted, settings: Settings, address: str | None, output: ListFormat) -> ExitCode:
    async with temporal(settings, address=address) as server:
        try:
            runs = await runs_on(server.client, wanted)
        except NotListableError as error:
            raise CommandError(str(error)) from None
    _print(runs, output)
    return ExitCode.DONE


def _print(runs: tuple[ListedRun, ...], output: ListFormat) -> None:
    match output:
        case ListFormat.JSON:
            write_line(sys.stdout, json_text([run_fields(run) for run in runs]))
        case ListFormat.TEXT:
            for line in run_table(runs, datetime.now(UTC)):
                write_line(sys.stdout, line)
