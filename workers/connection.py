"""The client of a Temporal server that somebody named."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfigProfile, ClientConnectConfig
from temporalio.service import TLSConfig

from workers.refused_connection import Attempt, refusal
from workers.runtime import PAYLOAD_LIMITS, shared_runtime
from workers.settings import SettingsError
from workers.tls_material import TlsMaterial, tls_material

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


async def connect(address: str, converter: DataConverter) -> Client:
    """Connect to the server; everything but its address comes from Temporal's environment configuration.

    That is namespace, TLS, API key and headers, from TEMPORAL_ variables and the chosen profile. Raises
    TemporalUnreachableError within five seconds, and SettingsError when the configuration, or a certificate
    that it names, cannot be read.
    """
    if not re.fullmatch(r"(\[[^\s/]+\]|[^\s/:]+):\d+", address):
        raise TemporalUnreachableError(address, "an address is written host:port")
    profile = _profile()
    settings: ClientConnectConfig = {**_connect_settings(profile), "target_host": address}
    material = _material(profile, settings)
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            return await Client.connect(
                **settings,
                data_converter=converter,
                runtime=shared_runtime(),
                payload_limits=PAYLOAD_LIMITS,
            )
    except TimeoutError:
        raise TemporalUnreachableError(address, f"no answer within {PATIENCE.seconds} seconds") from None
    except (RuntimeError, ValueError) as error:
        attempt = Attempt(material, has_api_key="api_key" in settings, at=datetime.now(UTC))
        raise TemporalUnreachableError(address, refusal(str(error), attempt)) from error


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


def _material(profile: ClientConfigProfile, settings: ClientConnectConfig) -> TlsMaterial | None:
    match settings.get("tls", False):
        case False:
            return None
        case True:
            return TlsMaterial(authority=None, client=None)
        case TLSConfig() as tls:
            return tls_material(profile, tls)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
