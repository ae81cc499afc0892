"""One update sent to a run by a command, and how it is told what became of it."""

import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Literal

from temporalio.client import Client

from console.entry import address_or_complain, run_to_exit_code, settings_or_complain
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.lines import write_line
from console.watching import command_on
from workers.logging import configure_logging
from workers.settings import Settings
from workers.temporal import Temporal, temporal
from workers.updates import UnansweredError, UpdateRefusedError

Steer = Callable[[Client, str], Awaitable[None]]
Next = Literal["watch", "resume", "show"]
_WHAT: Mapping[Next, str] = MappingProxyType(
    {"watch": "follows the run", "resume": "lets it go on", "show": "tells what happened in it"}
)


def steer(workflow_id: str, address: str | None, act: Steer, *, done: str, then: Next = "watch") -> ExitCode:
    """Do something to a run by its id, and say on stderr that it is done and what to do next.

    Raises:
        CommandError: the run does not take it, or no worker answers for it.
    """
    configure_logging(logging.WARNING)
    settings = settings_or_complain()
    named = address_or_complain(address)
    wanted = checked_name("the workflow id", workflow_id) or ""
    return run_to_exit_code(lambda _: _steer(wanted, act, settings, named, done=done, then=then))


async def _steer(
    workflow_id: str, act: Steer, settings: Settings, address: str | None, *, done: str, then: Next
) -> ExitCode:
    async with temporal(settings, address=address) as server:
        try:
            await act(server.client, workflow_id)
        except UpdateRefusedError as error:
            raise CommandError(str(error)) from None
        except UnansweredError as error:
            raise CommandError(_unanswered(error, server), ExitCode.RUN_FAILED) from None
        following = command_on(then, workflow_id, None if server.embedded else server.address)
    write_line(sys.stderr, f"{done}; `{following}` {_WHAT[then]}")
    return ExitCode.DONE


def _unanswered(error: UnansweredError, server: Temporal) -> str:
    return f"{error}. `surefoot dev` serves it" if server.embedded else str(error)
