import asyncio
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from surefoot.testing.server import start_test_server
from workers.embedded_server import embedded_server
from workers.runtime import shared_runtime
from workers.server_ports import free_port
from workers.settings import Settings
from workflows.converter import DATA_CONVERTER

# A property says what holds, never how fast: on a busy machine a deadline only makes it flaky.
# Each run draws others: many runs of few examples find what few runs of many do.
hypothesis.settings.register_profile("surefoot", deadline=None, max_examples=50)
hypothesis.settings.load_profile("surefoot")


@dataclass(frozen=True)
class RealServer:
    """Where the one Temporal server of this test session answers."""

    address: str
    ui_url: str
    namespace: str
    state_directory: Path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RealServer]:
    settings = Settings(state_directory=tmp_path_factory.mktemp("server") / "surefoot")
    context = embedded_server(settings, port=free_port(), ui_port=free_port())
    # A loop of its own: each test has another one, and the server outlives them all.
    with asyncio.Runner() as runner:
        running = runner.run(context.__aenter__())
        yield RealServer(running.address, running.ui_url, running.namespace, settings.state_directory)
        runner.run(context.__aexit__(None, None, None))


@pytest.fixture
async def client(server: RealServer) -> Client:
    return await Client.connect(
        server.address,
        namespace=server.namespace,
        data_converter=DATA_CONVERTER,
        # Else the core of one test complains on the stdout of another.
        runtime=shared_runtime(),
    )


@pytest.fixture
async def time_skipping() -> AsyncGenerator[WorkflowEnvironment]:
    async with await start_test_server() as environment:
        yield environment


_APART = {
    "slow": "takes seconds; runs only with --slow",
    "long": "takes long, and the machine for itself; runs only with --long",
}
"""The markers of tests that do not run with every change of a line."""


def pytest_addoption(parser: pytest.Parser) -> None:
    for marker in _APART:
        parser.addoption(f"--{marker}", action="store_true", help=f"run the tests marked `{marker}`, too")


def pytest_configure(config: pytest.Config) -> None:
    for marker, meaning in _APART.items():
        config.addinivalue_line("markers", f"{marker}: {meaning}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {marker for marker in _APART if not config.getoption(f"--{marker}")}
    apart = [item for item in items if any(item.get_closest_marker(marker) for marker in left_out)]
    items[:] = [item for item in items if item not in apart]
    config.hook.pytest_deselected(items=apart)
