from collections.abc import Generator
from pathlib import Path

import pytest

from activities.interface import ToolCallInput
from activities.tools.discovery import Discovery, discover_tools
from activities.tools.executor import ToolExecutor
from surefoot.outcome import ToolSuccess
from tests.examples.pilgrimage_calls import (
    EXAMPLE,
    Ask,
    Call,
)
from tests.examples.pilgrimage_services import LocalServer, Services


@pytest.fixture(scope="session")
def local_server() -> Generator[LocalServer]:
    server = LocalServer()
    yield server
    server.close()


@pytest.fixture
def services(local_server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Services of the test's own, that the tools in this process ask."""
    services = local_server.services()
    for name, value in services.environment.items():
        monkeypatch.setenv(name, value)
    return services


@pytest.fixture(scope="session")
def found() -> Discovery:
    return discover_tools([EXAMPLE])


@pytest.fixture
def ask(found: Discovery, services: Services, tmp_path: Path) -> Ask:
    """Call a tool as a worker does, and give its answer."""

    async def answer(call: Call, *, seconds: float = 30) -> object:
        tool, params = call
        asked = ToolCallInput(tool=tool, params=params, call_id="run-1/1-1", timeout_seconds=seconds)
        outcome = await ToolExecutor(found.tools, tmp_path, {}).run(asked)
        assert isinstance(outcome, ToolSuccess), outcome
        return outcome.result

    return answer
