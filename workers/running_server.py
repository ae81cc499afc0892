"""The embedded server as it is: looked at, and neither started nor stopped."""

import asyncio

from temporalio.client import Client

from workers.connection import PATIENCE, TemporalUnreachableError
from workers.embedded_server import NAMESPACE
from workers.encryption.converter import data_converter
from workers.runtime import PAYLOAD_LIMITS, shared_runtime
from workers.server_ports import HOST
from workers.server_process import find_server
from workers.settings import Settings
from workers.state_directory import StateDirectory
from workers.temporal import Temporal


async def running_server(settings: Settings) -> Temporal | None:
    """Connect to the embedded server of the settings' state directory; None if it is not up.

    Others may stop it at any time. Raises TemporalUnreachableError when it is up and gives no answer, and
    SettingsError when the settings' keys cannot be used.
    """
    server = find_server(StateDirectory(settings.state_directory).database)
    if server is None:
        return None
    address, converter = f"{HOST}:{server.ports.port}", data_converter(settings)
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            client = await Client.connect(
                address,
                namespace=NAMESPACE,
                data_converter=converter,
                runtime=shared_runtime(),
                payload_limits=PAYLOAD_LIMITS,
            )
    except (TimeoutError, RuntimeError) as error:
        raise TemporalUnreachableError(
            address, f"the embedded server, process {server.process_id}, is up and gives no answer"
        ) from error
    return Temporal(client, address, f"http://{HOST}:{server.ports.ui_port}", embedded=True)
