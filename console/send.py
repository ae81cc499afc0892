"""`surefoot send`: say something to a run that is at work."""

from typing import Annotated

import typer

from console.given_text import checked_name, message_text
from console.options import AddressOption
from console.steer import steer
from surefoot.run import SendMessage
from workers.sending import send_message


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
    message = SendMessage(text=message_text(text), sender=checked_name("--from", sender))
    return steer(workflow_id, address, lambda client, run: send_message(client, run, message), done="taken")
