"""`surefoot watch`: follow a run that somebody started, from its beginning."""

import logging
from typing import Annotated

import typer

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.exit_codes import ExitCode
from console.found_run import FoundRun, find
from console.given_text import checked_name
from console.interrupt import Interrupt
from console.options import AddressOption, RevealOption
from console.output import Output, OutputFormat, choose_output
from console.watching import watch as watch_run
from console.watching import watch_command
from workers.logging import configure_logging
from workers.settings import Settings
from workers.temporal import Temporal, temporal


def watch(
    workflow_id: Annotated[str, typer.Argument(metavar="WORKFLOW_ID", help="The run's id in Temporal.")],
    output: Annotated[
        OutputFormat, typer.Option("--output", "-o", help="What stdout carries.")
    ] = OutputFormat.TEXT,
    reveal: RevealOption = False,
    address: AddressOption = None,
) -> int:
    """Follow a run from its beginning to its end, as `surefoot run` shows it.

    Watching adds nothing to the run, and leaving it with Ctrl-C ends nothing. The exit code is that of the
    run, as with `surefoot run`.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    named = address_or_complain(address)
    wanted = checked_name("the workflow id", workflow_id) or ""
    shown = choose_output(output, reveal=reveal)
    return run_to_exit_code(lambda interrupt: _watch(wanted, settings, named, shown, interrupt))


async def _watch(
    workflow_id: str, settings: Settings, address: str | None, output: Output, interrupt: Interrupt
) -> ExitCode:
    async with temporal(settings, address=address) as server:
        found = await find(server, workflow_id)
        output.begin(**found.named())
        with interrupt.heeded(_last_words(server, found)):
            address = None if server.embedded else server.address
            return await watch_run(server.client, workflow_id, output, interrupt, address=address)


def _last_words(server: Temporal, found: FoundRun) -> str:
    if server.embedded:
        return "Leaving; the run goes on where it is served, or with `surefoot dev`."
    again = watch_command(found.newest.id, server.address)
    return f"Leaving; the run goes on at {server.address}. `{again}` shows it again."
