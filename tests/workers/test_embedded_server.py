import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, WorkflowExecutionStatus

from tests.workers.server_user import ServerUser
from workers.embedded_server import EmbeddedServerError, embedded_server
from workers.server_ports import PortTakenError, free_port
from workers.server_process import find_server
from workers.settings import Settings
from workers.waiting import until

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_directory=tmp_path / "a state")


@pytest.fixture
def database(settings: Settings) -> Path:
    return settings.state_directory / "temporal.db"


@pytest.fixture
async def start_user(settings: Settings, database: Path) -> AsyncGenerator[Callable[[], ServerUser]]:
    users: list[ServerUser] = []

    def start() -> ServerUser:
        users.append(ServerUser(settings))
        return users[-1]

    yield start
    for user in users:
        user.interrupt(signal.SIGKILL)
    if server := find_server(database):
        await server.stop()


def is_listening(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as client:
        return client.connect_ex((host, int(port))) == 0


async def test_two_commands_at_once_share_a_server_and_the_last_one_stops_it(
    start_user: Callable[[], ServerUser], database: Path
) -> None:
    first, second = start_user(), start_user()
    addresses = {first.address(), second.address()}

    first.leave()
    after_one = find_server(database)
    second.leave()

    assert len(addresses) == 1
    assert after_one is not None
    assert (find_server(database), is_listening(addresses.pop())) == (None, False)


async def test_servers_that_start_at_the_same_time_never_share_a_port(tmp_path: Path) -> None:
    async def use(name: str) -> tuple[str, str]:
        async with embedded_server(Settings(state_directory=tmp_path / name)) as server:
            await server.client.start_workflow("any", id=name, task_queue="nobody")
            await all_started.wait()
            await server.client.get_workflow_handle(name).describe()
            return server.address, server.ui_url

    all_started = asyncio.Barrier(3)
    used = await asyncio.gather(*(use(name) for name in ("first", "second", "third")))

    assert len({address for address, _ in used}) == 3
    assert len({ui_url for _, ui_url in used}) == 3


async def test_a_killed_user_holds_nothing_and_the_next_one_to_leave_stops_the_server(
    start_user: Callable[[], ServerUser], settings: Settings, database: Path
) -> None:
    user = start_user()
    address = user.address()
    user.interrupt(signal.SIGKILL)
    left_behind = find_server(database)

    async with embedded_server(settings) as server:
        shared = (server.address, find_server(database))

    assert shared == (address, left_behind)
    assert find_server(database) is None


async def test_an_interrupted_user_stops_the_server(
    start_user: Callable[[], ServerUser], database: Path
) -> None:
    user = start_user()
    user.address()

    user.interrupt(signal.SIGINT)

    assert find_server(database) is None


async def test_a_killed_server_is_replaced_at_its_address_and_its_runs_are_still_open(
    settings: Settings, database: Path
) -> None:
    async with embedded_server(settings) as before:
        await before.client.start_workflow("any", id="unfinished", task_queue="nobody")
        killed = find_server(database)
        assert killed
        killed.send(signal.SIGKILL)
        await until(killed.is_gone, within=timedelta(seconds=5))

        async with embedded_server(settings) as after:
            description = await before.client.get_workflow_handle("unfinished").describe()

    assert (after.address, after.ui_url) == (before.address, before.ui_url)
    assert description.status == WorkflowExecutionStatus.RUNNING


async def test_a_run_outlives_a_stop_and_histories_are_kept_for_90_days(settings: Settings) -> None:
    async with embedded_server(settings) as server:
        await server.client.start_workflow("any", id="unfinished", task_queue="nobody")

    async with embedded_server(settings) as server:
        description = await server.client.get_workflow_handle("unfinished").describe()
        retention = await retention_of(server.client)

    assert (description.status, retention) == (WorkflowExecutionStatus.RUNNING, timedelta(days=90))


async def retention_of(client: Client) -> timedelta:
    request = DescribeNamespaceRequest(namespace=client.namespace)
    answer = await client.workflow_service.describe_namespace(request)
    return answer.config.workflow_execution_retention_ttl.ToTimedelta()


async def test_the_server_is_out_of_reach_of_the_terminal_and_of_secrets(
    start_user: Callable[[], ServerUser], database: Path
) -> None:
    start_user().address()
    server = find_server(database)
    assert server

    variables = Path(f"/proc/{server.process_id}/environ").read_bytes()  # noqa: ASYNC240 - not on a disk

    assert os.getsid(server.process_id) != os.getsid(0)
    assert b"hunter2" not in variables


async def test_a_port_that_is_asked_for_and_taken_starts_nothing(settings: Settings, database: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PortTakenError, match=f"port {port} cannot be used"):
            async with embedded_server(settings, ui_port=port):
                pass

    assert find_server(database) is None


async def test_ports_that_are_asked_for_are_used_and_a_running_server_does_not_move(
    settings: Settings,
) -> None:
    port, ui_port = free_port(), free_port()
    async with embedded_server(settings, port=port, ui_port=ui_port) as server:
        with pytest.raises(EmbeddedServerError, match=f"already listens on port {port}"):
            async with embedded_server(settings, port=free_port()):
                pass

    assert (server.address, server.ui_url) == (f"127.0.0.1:{port}", f"http://127.0.0.1:{ui_port}")


@pytest.fixture
def damaged(settings: Settings, database: Path) -> Settings:
    settings.state_directory.mkdir()
    database.write_text("not a database " * 100)
    return settings


async def test_a_server_that_ends_at_once_says_why(damaged: Settings) -> None:
    with pytest.raises(
        EmbeddedServerError, match=r"ended as soon as it was started: .*file is not a database"
    ):
        async with embedded_server(damaged):
            pass


@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param("#!/nowhere/python\n", "not found", id="a missing interpreter"),
        pytest.param("#!/bin/sh\nexit 3\n", "it printed nothing", id="an end without a word"),
    ],
)
async def test_an_executable_that_is_no_server_is_one_sentence(
    tmp_path: Path, settings: Settings, script: str, said: str
) -> None:
    binary = tmp_path / "temporal"
    binary.write_text(script)
    binary.chmod(0o755)

    with pytest.raises(EmbeddedServerError, match=said):
        async with embedded_server(Settings(state_directory=settings.state_directory, server_binary=binary)):
            pass
