"""From a command's coroutine to its exit code: every error that a user can cause is one sentence."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from temporalio.service import RPCError, RPCStatusCode

from activities.model import ModelRefusedError
from activities.tools.sandbox.sandbox import Sandbox
from activities.tools.workspaces import WorkspaceError
from console.errors import CommandError
from console.exit_codes import ExitCode
from console.given_text import checked_name
from console.interrupt import Interrupt, interruptible
from workers.connection import TemporalUnreachableError, configured_address
from workers.dev_presence import DevIsUpError
from workers.embedded_server import EmbeddedServerError
from workers.environment import process_environment
from workers.ledger_reader import RunUnknownError
from workers.served_queues import QueueInUseError
from workers.server_binary import ServerBinaryMissingError
from workers.server_ports import PortTakenError
from workers.settings import Settings, SettingsError, load_settings
from workers.starting import RunExistsError
from workers.state_directory import StateDirectoryError
from workers.storage import open_store
from workers.walls import sandbox_of
from workflows.payloads import UnreadableError

_USAGE = (
    DevIsUpError,
    ModelRefusedError,
    PortTakenError,
    QueueInUseError,
    RunExistsError,
    RunUnknownError,
    SettingsError,
    StateDirectoryError,
    UnreadableError,
    WorkspaceError,
)
_UNREACHABLE = (EmbeddedServerError, ServerBinaryMissingError, TemporalUnreachableError)
_GONE = (RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED)

Command = Callable[[Interrupt], Coroutine[Any, Any, ExitCode]]


def run_to_exit_code(command: Command, *, interrupted: ExitCode = ExitCode.DETACHED) -> ExitCode:
    """Run a command's coroutine; `interrupted` ends it when it is stopped while it starts, or asked twice.

    Raises:
        CommandError: with the sentence and the exit code for what went wrong.
    """
    try:
        return asyncio.run(_interruptibly(command, interrupted))
    except BrokenPipeError as error:
        # Flushing what nobody reads would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        left = "nobody reads the output any more; the run goes on with `surefoot dev`, or where it is served"
        raise CommandError(left, interrupted) from error
    except _USAGE as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    except _UNREACHABLE as error:
        raise CommandError(str(error), ExitCode.TEMPORAL_UNREACHABLE) from error
    except RPCError as error:
        happened = "stopped answering" if error.status in _GONE else "refused"
        raise CommandError(f"Temporal {happened}: {error.message}", ExitCode.TEMPORAL_UNREACHABLE) from error


async def _interruptibly(command: Command, interrupted: ExitCode) -> ExitCode:
    with interruptible(at_once=interrupted) as interrupt:
        try:
            return await command(interrupt)
        except asyncio.CancelledError:
            if interrupt.asked.is_set():
                return interrupted
            raise


def settings_or_complain() -> Settings:
    """Read the settings from the environment.

    Raises:
        CommandError: one names every setting that cannot be used.
    """
    try:
        settings = load_settings()
        # A worker would find out only when its run has been started.
        open_store(settings, process_environment())
    except SettingsError as error:
        raise CommandError(str(error)) from error
    return settings


def sandbox_or_complain(settings: Settings) -> Sandbox:
    """Give what the settings wall executables in by.

    Raises:
        CommandError: one says which level does not work here, and why.
    """
    try:
        return sandbox_of(settings)
    except SettingsError as error:
        raise CommandError(str(error)) from error


def address_or_complain(address: str | None) -> str | None:
    """Give the server that was named, here or in Temporal's own environment configuration.

    Raises:
        CommandError: the address is empty, or the configuration cannot be read.
    """
    try:
        return configured_address(checked_name("--address", address))
    except SettingsError as error:
        raise CommandError(str(error)) from error
