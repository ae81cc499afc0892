"""Watching a run until it is over, or until the user asks to be left out of it."""

import asyncio
import sys
from contextlib import suppress
from datetime import timedelta

from temporalio.client import Client

from console.approving import Approving
from console.command_line import command_on
from console.exit_codes import ExitCode
from console.held_notice import HeldNotice
from console.interrupt import Interrupt
from console.lines import write_line
from console.output import Output
from surefoot.events import RunFinished
from workers.authority_key import AuthorityKey
from workers.following import follow
from workers.snapshot import Snapshot

# Whoever looks on hears of a run that nobody serves after twice this long.
PATIENCE = timedelta(seconds=2.5)


async def watch(
    client: Client,
    workflow_id: str,
    output: Output,
    interrupt: Interrupt,
    *,
    address: str | None = None,
    asks: bool = False,
    children: bool = False,
    key: AuthorityKey | None = None,
) -> ExitCode:
    """Show a run as it goes, from its beginning; leaving it does not end it.

    `address` is what commands about the run have to name; None is the embedded server. With `asks`, whoever
    is at the terminal is asked about calls that wait for approval, and with `children` about those of agents
    that the run calls, too; with a `key`, what they decide is signed where it has to be.

    Raises:
        RunUnknownError, RPCError: as `follow` does.
    """
    held = HeldNotice(command_on("resume", workflow_id, address))
    approving = Approving(client, workflow_id, output, address=address, asks=asks, children=children, key=key)
    watching = asyncio.create_task(_show(client, workflow_id, output, held, approving))
    try:
        await interrupt.first(watching)
    finally:
        await approving.close()
        output.end()
    if not watching.done():
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        return ExitCode.DETACHED
    return exit_code_of(watching.result())


def watch_command(workflow_id: str, address: str | None) -> str:
    """Print the command that follows a run."""
    return command_on("watch", workflow_id, address)


def resume_command(workflow_id: str, address: str | None) -> str:
    """Print the command that goes on with a session."""
    return command_on("chat --resume", workflow_id, address)


async def _show(
    client: Client, workflow_id: str, output: Output, held: HeldNotice, approving: Approving
) -> RunFinished:
    async for seen in follow(client, workflow_id, patience=PATIENCE):
        match seen:
            case Snapshot():
                output.now(seen)
                # All that has happened is shown: what holds the run holds it now.
                for line in (*held.due(), *approving.due()):
                    write_line(sys.stderr, line)
            case RunFinished():
                output.show(seen)
                return seen
            case _:
                output.show(seen)
                held.hear(seen)
                approving.hear(seen)
    raise AssertionError("a run that is followed always finishes")


def exit_code_of(finished: RunFinished) -> ExitCode:
    """Give the exit code of a command that followed a run to its end."""
    match finished.status:
        case "completed":
            return ExitCode.DONE
        case "failed":
            return ExitCode.RUN_FAILED
        case "limit_reached":
            return ExitCode.LIMIT_REACHED
        case "cancelled":
            return ExitCode.CANCELLED
