"""The client of a Temporal server that somebody named."""

import asyncio
import re
from datetime import timedelta

from temporalio.client import Client
from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig

from workers.runtime import PAYLOAD_LIMITS, shared_runtime
from workers.settings import SettingsError
from workflows.converter import DATA_CONVERTER

PATIENCE = timedelta(seconds=5)


class TemporalUnreachableError(RuntimeError):
    """One sentence on a server that does not answer."""

    def __init__(self, address: str, reason: str) -> None:
        self.address = address
        self.reason = reason
        super().__init__(f"cannot reach Temporal at {address}: {reason}")


def configured_address(address: str | None = None) -> str | None:
    """Give the address that was passed, else the one of Temporal's own environment configuration.

    None means that nobody named a server, so that the embedded one is to be used. Raises
    SettingsError when the configuration cannot be read.
    """
    return address or _profile().address or None


async def connect(address: str) -> Client:
    """Connect to the server; everything but its address comes from Temporal's environment configuration.

    That is namespace, TLS, API key and headers, from TEMPORAL_ variables and the chosen profile. Raises
    TemporalUnreachableError within five seconds, and SettingsError when the configuration cannot be read.
    """
    if not re.fullmatch(r"(\[[^\s/]+\]|[^\s/:]+):\d+", address):
        raise TemporalUnreachableError(address, "an address is written host:port")
    settings: ClientConnectConfig = {**_connect_settings(_profile()), "target_host": address}
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            return await Client.connect(
                **settings,
                data_converter=DATA_CONVERTER,
                runtime=shared_runtime(),
                payload_limits=PAYLOAD_LIMITS,
            )
    except TimeoutError:
        raise TemporalUnreachableError(address, f"no answer within {PATIENCE.seconds} seconds") from None
    except (RuntimeError, ValueError) as error:
        raise TemporalUnreachableError(address, _reason(error)) from error


def _profile() -> ClientConfigProfile:
    try:
        return ClientConfigProfile.load()
    except RuntimeError as error:
        raise SettingsError(f"Temporal's configuration cannot be read: {_one_line(error)}") from error


def _connect_settings(profile: ClientConfigProfile) -> ClientConnectConfig:
    try:
        return profile.to_client_connect_config()
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}"
        raise SettingsError(f"Temporal's configuration names a file that cannot be read: {reason}") from error


def _reason(error: Exception) -> str:
    # The SDK prints a nest of Rust structures around the sentence that matters, which comes last.
    quoted = re.findall(r'"([^"]+)"', str(error))
    return quoted[-1] if quoted else _one_line(error)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
