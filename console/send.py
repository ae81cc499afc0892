"""`surefoot send`: say something to a run that is at work."""

import logging
import sys
from typing import Annotated

import typer

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name, message_text
from console.lines import write_line
from console.options import AddressOption
from console.watching import watch_command
from surefoot.run import SendMessage
from workers.logging import configure_logging
from workers.sending import MessageRefusedError, UnansweredError, send_message
from workers.settings import Settings
from workers.temporal import temporal


def send(
    workflow_id: Annotated[str, typer.Argument(metavar="WORKFLOW_ID", help="The run's id in Temporal.")],
    text: Annotated[str, typer.Argument(help="What to tell the model; `-` reads it from stdin.")],
    sender: Annotated[
        str | None, typer.Option("--from", metavar="NAME", help="Who says it, for the run's record.")
    ] = None,
    address: AddressOption = None,
) -> int:
    """Tell the model of a run something before its next turn.

    A run that was about to end goes on with it. The exit code is 0 once the run has taken the message, 2 if
    it does not take it, and 1 if no worker answers for the run.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    named = address_or_complain(address)
    wanted = checked_name("the workflow id", workflow_id) or ""
    message = SendMessage(text=message_text(text), sender=checked_name("--from", sender))
    return run_to_exit_code(lambda _: _send(wanted, message, settings, named))


async def _send(workflow_id: str, message: SendMessage, settings: Settings, address: str | None) -> ExitCode:
    async with temporal(settings, address=address) as server:
        try:
            await send_message(server.client, workflow_id, message)
        except MessageRefusedError as error:
            raise CommandError(str(error)) from None
        except UnansweredError as error:
            raise CommandError(str(error), ExitCode.RUN_FAILED) from None
        again = watch_command(workflow_id, None if server.embedded else server.address)
    write_line(sys.stderr, f"taken; `{again}` follows the run")
    return ExitCode.DONE
