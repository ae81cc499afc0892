"""`surefoot cancel` and `surefoot cancel-call`: stop a run, or one of its calls."""

from typing import Annotated

import typer

from console.given_text import checked_name
from console.options import AddressOption, ReasonOption, RunArgument
from console.steer import steer
from workers.cancelling import cancel_call as cancel_call_of
from workers.cancelling import cancel_run


def cancel(run: RunArgument, reason: ReasonOption = None, address: AddressOption = None) -> int:
    """Stop a run for good, and wait until it has ended.

    What runs in it is killed first. The exit code is 0 once the run is cancelled, 2 if it has ended
    already, and 1 if it does not end within ten seconds, as without a worker that serves it.
    """
    why = checked_name("--reason", reason) or ""
    return steer(
        run,
        address,
        lambda client, found: cancel_run(client, found, reason=why),
        done="cancelled",
        then="show",
    )


def cancel_call(
    run: RunArgument,
    call: Annotated[
        str, typer.Argument(metavar="TOOL_EXEC_ID", help="Which call, such as 3-1: the first of turn 3.")
    ],
    address: AddressOption = None,
) -> int:
    """Stop one tool call of a run; the model is told TOOL_CANCELLED, and the run goes on.

    The exit code is 0 once the run has taken it, 2 if no such call runs or waits, and 1 if no worker
    answers for the run.
    """
    wanted = checked_name("TOOL_EXEC_ID", call) or ""
    return steer(
        run, address, lambda client, found: cancel_call_of(client, found, wanted), done="the call is stopped"
    )
