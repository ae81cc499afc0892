"""A server of the user's own: shared by all commands on a state directory, gone with the last of them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, UpdateNamespaceRequest
from temporalio.client import Client
from temporalio.converter import DataConverter
from temporalio.service import RPCError

from workers.encryption.configured_keys import configured_keys
from workers.encryption.converter import data_converter
from workers.file_lock import FileLock, lock, try_lock
from workers.listening import listens
from workers.runtime import PAYLOAD_LIMITS, shared_runtime
from workers.search_attributes import register_search_attributes
from workers.server_binary import find_server_binary
from workers.server_ports import HOST, WantedPorts, choose_ports, last_ports, remember_ports
from workers.server_process import ServerProcess, find_server, launch_server
from workers.settings import Settings
from workers.state_directory import StateDirectory

NAMESPACE = "default"
RETENTION = timedelta(days=90)
READY_WITHIN = timedelta(seconds=20)
# Longer than another command may take to stop a server and start one.
TURN_WITHIN = timedelta(seconds=60)
ATTEMPTS = 2
CHECK_SECONDS = 0.05
LOG_TAIL_LINES = 3


class EmbeddedServerError(RuntimeError):
    """One sentence on an embedded server that cannot be used."""


@dataclass(frozen=True)
class EmbeddedServer:
    """A server that answers, for as long as its context lasts."""

    address: str
    ui_url: str
    namespace: str
    client: Client
    process: ServerProcess


@asynccontextmanager
async def embedded_server(
    settings: Settings, *, port: int | None = None, ui_port: int | None = None
) -> AsyncGenerator[EmbeddedServer]:
    """Use the server of the settings' state directory: the one that runs, else a new one.

    The last user to leave stops it; its database stays. A port that is not asked for is Temporal's usual
    one if that is free. Raises PortTakenError, ServerBinaryMissingError, StateDirectoryError, and
    EmbeddedServerError when the server does not come up or already listens on other ports, and SettingsError
    when the settings' keys cannot be used.
    """
    state = StateDirectory.open(settings.state_directory)
    async with AsyncExitStack() as membership:
        async with _turn(state):
            # At their old address the users of a server that was killed find the new one again.
            stay = not _is_unused(state)
            membership.push_async_callback(
                _leave, state, await lock(state.server_users, shared=True, within=TURN_WITHIN)
            )
            codec = bool(configured_keys(settings))
            wanted = WantedPorts(port=port, ui_port=ui_port, stay=stay, codec=codec)
            server = await _answering(settings, state, wanted)
        yield server


@asynccontextmanager
async def _turn(state: StateDirectory) -> AsyncGenerator[None]:
    """Be the only command that starts or stops the server."""
    try:
        gate = await lock(state.server_gate, within=TURN_WITHIN)
    except TimeoutError:
        raise EmbeddedServerError(f"another command has held {state.server_gate} for too long") from None
    try:
        yield
    finally:
        gate.release()


def _is_unused(state: StateDirectory) -> bool:
    users = try_lock(state.server_users)
    if users is not None:
        users.release()
    return users is not None


async def _leave(state: StateDirectory, user: FileLock) -> None:
    try:
        async with _turn(state):
            user.release()
            if _is_unused(state):
                await _stop(state)
    finally:
        user.release()


async def _stop(state: StateDirectory) -> None:
    if server := find_server(state.database):
        try:
            await server.stop()
        except TimeoutError as error:
            raise EmbeddedServerError(str(error)) from None


async def _answering(settings: Settings, state: StateDirectory, wanted: WantedPorts) -> EmbeddedServer:
    converter = data_converter(settings)
    for _ in range(ATTEMPTS):
        server = find_server(state.database) or await _launched(settings, state, wanted)
        if not wanted.fit(server.ports):
            raise EmbeddedServerError(
                f"the server of {state.path} already listens on port {server.ports.port}, its UI on "
                f"{server.ports.ui_port}: leave the ports out, or name another state directory"
            )
        if client := await _client_of(server, state, converter):
            ui_url = f"http://{HOST}:{server.ports.ui_port}"
            return EmbeddedServer(_address(server), ui_url, NAMESPACE, client, server)
    raise EmbeddedServerError(f"the server ended as soon as it was started: {_printed_last(state)}")


async def _launched(settings: Settings, state: StateDirectory, wanted: WantedPorts) -> ServerProcess:
    ports = choose_ports(wanted, last=last_ports(state))
    remember_ports(state, ports)
    return await launch_server(find_server_binary(settings), state, ports)


async def _client_of(server: ServerProcess, state: StateDirectory, converter: DataConverter) -> Client | None:
    """Give a client once the server answers, or None when it has ended."""
    try:
        async with asyncio.timeout(READY_WITHIN.total_seconds()):
            while not server.is_gone():
                # Until then, whoever answers there may be another server that was quicker.
                if _is_listening(server):
                    with suppress(RuntimeError, RPCError):
                        client = await _connect(server, converter)
                        await _keep_histories(client)
                        await register_search_attributes(client)
                        return client
                await asyncio.sleep(CHECK_SECONDS)
    except TimeoutError:
        seconds = READY_WITHIN.seconds
        raise EmbeddedServerError(
            f"the server gave no answer within {seconds} seconds: {_printed_last(state)}"
        ) from None
    return None


def _is_listening(server: ServerProcess) -> bool:
    ports = (server.ports.port, server.ports.ui_port)
    return all(listens(server.process_id, port) for port in ports)


async def _connect(server: ServerProcess, converter: DataConverter) -> Client:
    return await Client.connect(
        _address(server),
        data_converter=converter,
        runtime=shared_runtime(),
        payload_limits=PAYLOAD_LIMITS,
    )


async def _keep_histories(client: Client) -> None:
    service = client.workflow_service
    described = await service.describe_namespace(DescribeNamespaceRequest(namespace=NAMESPACE))
    if described.config.workflow_execution_retention_ttl.ToTimedelta() == RETENTION:
        return
    kept = NamespaceConfig(workflow_execution_retention_ttl=Duration(seconds=int(RETENTION.total_seconds())))
    await service.update_namespace(UpdateNamespaceRequest(namespace=NAMESPACE, config=kept))


def _address(server: ServerProcess) -> str:
    return f"{HOST}:{server.ports.port}"


def _printed_last(state: StateDirectory) -> str:
    if not state.server_log.exists():
        return f"its log {state.server_log} is gone"
    printed = state.server_log.read_text(encoding="utf-8", errors="replace")
    tail = [line.strip() for line in printed.splitlines() if line.strip()][-LOG_TAIL_LINES:]
    return f"{' / '.join(tail) or 'it printed nothing'} ({state.server_log})"
