import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.workers.tls.authority import Authority, Pair


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("TEMPORAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "temporal.toml"))


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def stranger(tmp_path: Path) -> Authority:
    """An authority that nobody trusts."""
    return Authority(tmp_path, "stranger")


@pytest.fixture
def own(authority: Authority) -> Pair:
    """What the server shows."""
    return authority.issue("server", "127.0.0.1")


@pytest.fixture
def client_pair(authority: Authority) -> Pair:
    return authority.issue("client")


@pytest.fixture
def surefoot(tmp_path: Path, server: RealServer) -> Generator[Surefoot]:
    commands = Surefoot(tmp_path, state_home=tmp_path / "state")
    yield commands
    commands.clean_up()
