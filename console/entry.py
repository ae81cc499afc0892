"""From a command's coroutine to its exit code: every error that a user can cause is one sentence."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio.service import RPCError

from activities.model import ModelRefusedError
from console.errors import CommandError
from console.exit_codes import ExitCode
from workers.connection import TemporalUnreachableError
from workers.dev_presence import DevIsUpError
from workers.embedded_server import EmbeddedServerError
from workers.following import RunUnknownError
from workers.served_queues import QueueInUseError
from workers.server_binary import ServerBinaryMissingError
from workers.server_ports import PortTakenError
from workers.settings import Settings, SettingsError, load_settings
from workers.starting import RunExistsError
from workers.state_directory import StateDirectoryError

_USAGE = (
    DevIsUpError,
    ModelRefusedError,
    PortTakenError,
    QueueInUseError,
    RunExistsError,
    RunUnknownError,
    SettingsError,
    StateDirectoryError,
)
_UNREACHABLE = (EmbeddedServerError, ServerBinaryMissingError, TemporalUnreachableError)


def run_to_exit_code(command: Coroutine[Any, Any, ExitCode]) -> ExitCode:
    """Run a command's coroutine.

    Raises:
        CommandError: with the sentence and the exit code for what went wrong.
    """
    try:
        return asyncio.run(command)
    except _USAGE as error:
        raise CommandError(str(error), ExitCode.USAGE) from error
    except _UNREACHABLE as error:
        raise CommandError(str(error), ExitCode.TEMPORAL_UNREACHABLE) from error
    except RPCError as error:
        raise CommandError(
            f"Temporal stopped answering: {error.message}", ExitCode.TEMPORAL_UNREACHABLE
        ) from error


def settings_or_complain() -> Settings:
    """Read the settings from the environment.

    Raises:
        CommandError: one names every setting that cannot be used.
    """
    try:
        return load_settings()
    except SettingsError as error:
        raise CommandError(str(error)) from error
