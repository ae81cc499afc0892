"""The Temporal server that a command uses: the one that was named, else the embedded one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client

from workers.connection import configured_address, connect
from workers.embedded_server import embedded_server
from workers.encryption.converter import data_converter
from workers.settings import Settings
from workers.ui_link import run_url


@dataclass(frozen=True)
class Temporal:
    """A server that answers; `ui_url` is None where nobody said where its UI is."""

    client: Client
    address: str
    ui_url: str | None
    embedded: bool

    def run_url(self, workflow_id: str, run_id: str) -> str | None:
        """Give the address of a run's page in the UI, where it is known."""
        if self.ui_url is None:
            return None
        return run_url(self.ui_url, namespace=self.client.namespace, workflow_id=workflow_id, run_id=run_id)


@asynccontextmanager
async def temporal(
    settings: Settings, *, address: str | None = None, port: int | None = None, ui_port: int | None = None
) -> AsyncGenerator[Temporal]:
    """Connect to the named server, or use the embedded one for as long as the context lasts.

    Raises:
        TemporalUnreachableError: the named server does not answer.
        EmbeddedServerError, PortTakenError, ServerBinaryMissingError, StateDirectoryError: the embedded
            server does not come up.
        SettingsError: Temporal's own configuration cannot be read, or the settings' keys not be used.
    """
    named = configured_address(address)
    if named is not None:
        yield Temporal(await connect(named, data_converter(settings)), named, settings.ui_url, embedded=False)
        return
    async with embedded_server(settings, port=port, ui_port=ui_port) as server:
        yield Temporal(server.client, server.address, server.ui_url, embedded=True)
