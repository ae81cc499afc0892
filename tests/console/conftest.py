from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conftest import RealServer
from tests.console.command import Surefoot


@pytest.fixture
def surefoot(tmp_path: Path, server: RealServer) -> Generator[Surefoot]:
    """The command on a state directory whose server is up already."""
    commands = Surefoot(tmp_path, state_home=server.state_directory.parent)
    yield commands
    commands.clean_up()


@pytest.fixture
def surefoot_alone(tmp_path: Path) -> Generator[Surefoot]:
    """The command on a state directory of the test's own, which starts and stops a server there."""
    commands = Surefoot(tmp_path, state_home=tmp_path / "state")
    yield commands
    commands.clean_up()
    commands.kill_server()


@pytest.fixture
def usable(surefoot_alone: Surefoot) -> Surefoot:
    """The command where no server is up, and none is to be started."""
    return surefoot_alone
