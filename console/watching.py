"""Watching a run until it is over, or until the user asks to be left out of it."""

import asyncio
import shlex
from contextlib import suppress
from datetime import timedelta

from temporalio.client import Client

from console.exit_codes import ExitCode
from console.interrupt import Interrupt
from console.output import Output
from surefoot.ledger import RunFinished
from workers.following import follow
from workers.snapshot import Snapshot

# Whoever looks on hears of a run that nobody serves after twice this long.
PATIENCE = timedelta(seconds=2.5)


async def watch(client: Client, workflow_id: str, output: Output, interrupt: Interrupt) -> ExitCode:
    """Show a run as it goes, from its beginning; leaving it does not end it.

    Raises:
        RunUnknownError, RPCError: as `follow` does.
    """
    watching = asyncio.create_task(_show(client, workflow_id, output))
    try:
        await interrupt.first(watching)
    finally:
        output.end()
    if not watching.done():
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        return ExitCode.DETACHED
    return _exit_code(watching.result())


def watch_command(workflow_id: str, address: str | None) -> str:
    """Print the command that follows a run."""
    where = "" if address is None else f" --address {shlex.quote(address)}"
    return f"surefoot watch {shlex.quote(workflow_id)}{where}"


async def _show(client: Client, workflow_id: str, output: Output) -> RunFinished:
    async for seen in follow(client, workflow_id, patience=PATIENCE):
        match seen:
            case Snapshot():
                output.now(seen)
            case RunFinished():
                output.show(seen)
                return seen
            case _:
                output.show(seen)
    raise AssertionError("a run that is followed always finishes")


def _exit_code(finished: RunFinished) -> ExitCode:
    match finished.status:
        case "completed":
            return ExitCode.DONE
        case "failed":
            return ExitCode.RUN_FAILED
        case "limit_reached":
            return ExitCode.LIMIT_REACHED
        case "cancelled":
            return ExitCode.CANCELLED
