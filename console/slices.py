"""`surefoot slices`: what reducers make of a run."""

import logging
import sys
from typing import Annotated

import typer

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.json_text import json_text
from console.lines import write_line
from console.options import AddressOption
from console.reducer_sources import GivenReducers, ReducersOption, load_reducers
from console.watching import PATIENCE
from workers.logging import configure_logging
from workers.reading_slices import SlicesUnreadableError, ask_for_slices, make_slices
from workers.settings import Settings
from workers.temporal import temporal


def slices(
    workflow_id: Annotated[str, typer.Argument(metavar="WORKFLOW_ID", help="The run's id in Temporal.")],
    reducers: ReducersOption = None,
    address: AddressOption = None,
) -> int:
    """Print what reducers make of a run, as one JSON object: a slice of its state by the name of each.

    They are those of the run's worker, which must answer. With --reducers they are these, over the run's
    whole ledger, and no worker is needed.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    named = address_or_complain(address)
    wanted = checked_name("the workflow id", workflow_id) or ""
    given = load_reducers(reducers)
    return run_to_exit_code(lambda _: _slices(wanted, given, settings, named))


async def _slices(
    workflow_id: str, given: GivenReducers, settings: Settings, address: str | None
) -> ExitCode:
    async with temporal(settings, address=address) as server:
        try:
            if given.reducers:
                told = await make_slices(server.client, workflow_id, given.reducers, patience=PATIENCE)
            else:
                told = await ask_for_slices(server.client, workflow_id, patience=PATIENCE)
        except SlicesUnreadableError as error:
            advice = "" if given.reducers else "; with --reducers they are made here, without one"
            raise CommandError(f"{error}{advice}", ExitCode.RUN_FAILED) from None
    if not told:
        write_line(sys.stderr, "the run's worker has no reducers; with --reducers slices are made here")
    write_line(sys.stdout, json_text({name: one.model_dump(mode="json") for name, one in told.items()}))
    return ExitCode.DONE
