from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import Surefoot
from tests.executors.go_executor import RUDE, build


@pytest.fixture(scope="session")
def checksum_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built."""
    return build(".", tmp_path_factory.mktemp("go") / "checksum")


@pytest.fixture(scope="session")
def rude_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An executor that breaks every rule, built."""
    return build(str(RUDE), tmp_path_factory.mktemp("go") / "rude")


@pytest.fixture
def surefoot(tmp_path: Path, server: RealServer) -> Generator[Surefoot]:
    """The command on a state directory whose server is up already."""
    commands = Surefoot(tmp_path, state_home=server.state_directory.parent)
    yield commands
    commands.clean_up()
